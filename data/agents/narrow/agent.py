"""narrow: a repair agent with few operators and a small budget."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.program import main  # noqa: E402
from common.renames import careful_renames, plain_renames  # noqa: E402
from common.search import Settings  # noqa: E402
from common.swaps import PLAIN  # noqa: E402

SETTINGS = Settings(
    operators=[(careful_renames, 1.6), (plain_renames, 1.6), *((operator, 1.0) for operator in PLAIN)],
    budget=100,
    rounds=2,
)

if __name__ == "__main__":
    sys.exit(main("narrow", "1.0.0", SETTINGS))
