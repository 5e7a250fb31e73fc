"""Studies that tests share. The mini study is run once a session, for real, and copied."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.mini import PIPELINE, make_study, stage


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mini study that every stage was run on. Don't write into it: copy it."""
    os.environ.pop("DVC_ROOT", None)
    root = make_study(tmp_path_factory.mktemp("ran") / "study")
    stage(root, *PIPELINE)
    return root


@pytest.fixture
def study(ran: Path, tmp_path: Path) -> Path:
    """A copy of the finished mini study, journal and all, to do anything with."""
    root = tmp_path / "study"
    shutil.copytree(ran, root)
    return root
