"""Logs of many rows: every row counted, memory bounded. How long it takes is the benchmarks' business."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import json, re, sys
from pathlib import Path
from stages.contract.importing import ImportParams
from stages.evidence.importing import judge
folder = Path(sys.argv[1])
paths = {arm: [str(folder / f"{arm}.jsonl")] for arm in ("candidate", "control")}
decision = judge(folder / "out", ImportParams(**paths), {}, "test")
# Not ru_maxrss: a child inherits that from whoever started it.
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
print(json.dumps([decision["counts"], decision["win_rate"], peak]))
"""


def make(folder: Path, rows: int) -> tuple[int, int]:
    """(wins, losses) of two logs of as many rows."""
    draw = random.Random(7)
    wins = losses = 0
    with (folder / "candidate.jsonl").open("w") as one, (folder / "control.jsonl").open("w") as two:
        for i in range(rows):
            a, b = draw.random() < 0.55, draw.random() < 0.5
            wins, losses = wins + (a > b), losses + (b > a)
            for stream, passed in ((one, a), (two, b)):
                stream.write(
                    f'{{"item_id":"item-{i:07d}","stratum":"{"xyz"[i % 3]}","passed":{int(passed)},"wall_s":1.5}}\n'
                )
    return wins, losses


def check(folder: Path, rows: int, most_bytes: int) -> None:
    wins, losses = make(folder, rows)
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=900, check=True
    )
    counts, rate, peak = json.loads(done.stdout)
    assert (counts["planned"], counts["scored"], counts["items_kept"]) == (2 * rows, 2 * rows, rows)
    assert (rate["wins"], rate["losses"]) == (wins, losses)
    assert peak * 1024 < most_bytes


def test_tens_of_thousands_of_rows(tmp_path: Path) -> None:
    check(tmp_path, 20_000, 1 << 30)


@pytest.mark.heavy
def test_a_million_rows_in_each_arm_take_less_than_two_gigabytes(tmp_path: Path) -> None:
    check(tmp_path, 1_000_000, 2 << 30)
