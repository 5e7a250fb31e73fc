"""Studies that tests share. The mini study is run once a session, for real, and copied."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from tests.support.mini import PIPELINE, make_study, stage


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mini study that every stage was run on, once for all processes of a test run. Don't write into it: copy it."""
    os.environ.pop("DVC_ROOT", None)
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "ran.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "ran/done").exists():
            stage(make_study(shared / "ran/study"), *PIPELINE)
            (shared / "ran/done").touch()
    return shared / "ran/study"


@pytest.fixture
def study(ran: Path, tmp_path: Path) -> Path:
    """A copy of the finished mini study, journal and all, to do anything with."""
    root = tmp_path / "study"
    shutil.copytree(ran, root)
    return root
