"""Measure subjects and print them as Markdown; `--json` keeps every figure behind the tables."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tests.benchmarks import bootstrap, ledger, overhead, proxy

SUBJECTS = {"bootstrap": bootstrap, "ledger": ledger, "overhead": overhead, "proxy": proxy}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"of {', '.join(SUBJECTS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="the smallest size only, few repeats")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to this file")
    given = parser.parse_args()
    chosen = given.subjects or list(SUBJECTS)
    if unknown := sorted(set(chosen) - set(SUBJECTS)):
        parser.error(f"unknown subject {', '.join(unknown)}; there are {', '.join(SUBJECTS)}")
    found = {name: SUBJECTS[name].measure(given.quick) for name in chosen}
    if given.json:
        given.json.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print("\n\n".join(SUBJECTS[name].markdown(found[name]) for name in chosen))


if __name__ == "__main__":
    main()
