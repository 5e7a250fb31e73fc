"""wide: a repair agent with many operators, a larger budget and several rounds."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import calls  # noqa: E402
import errors  # noqa: E402
import expressions  # noqa: E402
import guards  # noqa: E402
import interfaces  # noqa: E402
import moving  # noqa: E402
import names  # noqa: E402
import statements  # noqa: E402
import wraps  # noqa: E402
from common.program import main  # noqa: E402
from common.search import Settings  # noqa: E402
from common.swaps import PLAIN  # noqa: E402
from habits import leave_behind  # noqa: E402

ROOMS = (moving, errors, names, calls, expressions, wraps, guards, statements, interfaces)
SETTINGS = Settings(
    operators=[
        *((operator, 1.0) for operator in PLAIN),
        *(pair for room in ROOMS for pair in room.OPERATORS),
    ],
    budget=350,
    rounds=5,
    patience=30,
    second_looks=50,
    joined=True,
    mood=0.3,
)

if __name__ == "__main__":
    sys.exit(main("wide", "1.0.0", SETTINGS, leave_behind))
