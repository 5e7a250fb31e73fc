"""`kill -9` of everything during the run stage: nothing finished is lost or started again."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from stages.contract import layout
from stages.gate.metrics import MEASURED
from tests.support.mini import make_study, stage, write

OBSERVED = ("started_at",)
RUN = (sys.executable, "-m", "stages", "run")


def finished(root: Path) -> dict[tuple[str, str, int], str]:
    """Finished trials of the journal with their rows as written."""
    path = root / ".trials/journal.sqlite"
    if not path.exists():
        return {}
    with sqlite3.connect(path, timeout=30) as db:
        try:
            return {(i, a, r): row for i, a, r, row in db.execute("SELECT item, arm, repeat, row FROM trials")}
        except sqlite3.OperationalError:
            return {}


def claims(root: Path) -> dict[tuple[str, str, int], int]:
    with sqlite3.connect(root / ".trials/journal.sqlite", timeout=30) as db:
        rows = db.execute("SELECT item, arm, repeat, count(*) FROM claims GROUP BY 1, 2, 3")
        return {(i, a, r): n for i, a, r, n in rows}


def descendants(pid: int) -> list[int]:
    """All processes below one, from the process table."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def decided(root: Path) -> dict[str, Any]:
    found = json.loads((root / layout.DECISION).read_bytes())
    for name in OBSERVED:
        found.pop(name)
    for arm in found["arms"].values():
        for name in MEASURED:
            arm.pop(f"{name}_median")
    return dict(found)


def slow_study(root: Path) -> Path:
    make_study(root, items=4, placebos=2)
    for name in ("able", "poor"):
        path = root / f"data/agents/{name}/agent.py"
        write(path, path.read_text(encoding="utf-8").replace("luck =", "import time; time.sleep(0.3)\nluck ="))
    stage(root, "freeze", "preflight")
    return root


def kill_at(
    root: Path, done: int, pause: float, words: tuple[str, ...] = RUN, env: dict[str, str] | None = None
) -> None:
    """Start the run stage, wait until so many trials are finished and a moment longer, kill the whole tree."""
    child = subprocess.Popen(words, cwd=root, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while len(finished(root)) < done and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(pause)
    finally:
        tree = [child.pid, *descendants(child.pid)]
        for pid in tree:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        child.wait()


def check_kills(
    root: Path,
    moments: int,
    undisturbed: dict[str, Any],
    words: tuple[str, ...] = RUN,
    env: dict[str, str] | None = None,
) -> None:
    """Kill everything at so many moments, then let it end: the decision is the undisturbed one."""
    draw = random.Random(20261130)
    kept: dict[tuple[str, str, int], str] = {}
    for number in range(moments):
        kill_at(root, 2 * number, draw.uniform(0, 0.4), words, env)
        now = finished(root)
        assert kept.items() <= now.items(), "a finished trial was lost or changed"
        kept = now
    before = claims(root)
    if words == RUN:
        stage(root, "run", "score", "exclude", "report")
    else:
        subprocess.run(words, cwd=root, env=env, check=True, capture_output=True)
    after = claims(root)
    assert kept.items() <= finished(root).items()
    assert {key: after[key] for key in kept} == {key: before[key] for key in kept}, "a finished trial was started again"
    assert len(finished(root)) == 24
    assert decided(root) == undisturbed


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = slow_study(tmp_path_factory.mktemp("undisturbed") / "s")
    stage(root, "run", "score", "exclude", "report")
    return decided(root)


@pytest.mark.heavy
def test_two_kills_lose_no_finished_trial(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    check_kills(slow_study(tmp_path / "s"), 2, undisturbed)


@pytest.mark.heavy
def test_ten_kills_lose_no_finished_trial(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    check_kills(slow_study(tmp_path / "s"), 10, undisturbed)


@pytest.mark.heavy
def test_two_runs_at_once_share_the_campaign_without_a_double_start(tmp_path: Path) -> None:
    root = slow_study(tmp_path / "s")
    pair = [
        subprocess.Popen([sys.executable, "-m", "stages", "run"], cwd=root, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [child.communicate()[1] for child in pair]
    assert [child.returncode for child in pair] == [0, 0], said
    assert any("waiting for it to end" in text for text in said)
    assert set(claims(root).values()) == {1}
    assert len(finished(root)) == 24


@pytest.mark.heavy
def test_ten_kills_of_dvc_repro_end_in_the_same_decision(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    from tests.test_dvc_life import ENV, start_study

    root = slow_study(tmp_path / "s")
    start_study(root)
    check_kills(root, 10, undisturbed, (sys.executable, "-m", "dvc", "repro"), ENV)
