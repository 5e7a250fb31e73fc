"""A frozen mini study, made once and copied for every case."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stages.freeze import freeze
from tests.cli.refusals import Case, Ended, assert_refused, call, spawn
from tests.support import mini


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A frozen study of four items and two placebos."""
    root = mini.make_study(tmp_path_factory.mktemp("template") / "study")
    freeze(root)
    return root


@pytest.fixture
def frozen(template: Path, tmp_path: Path) -> Path:
    """A copy of the frozen study."""
    return Path(shutil.copytree(template, tmp_path / "study", symlinks=True))


@pytest.fixture
def weighbridge(
    frozen: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[[str], Ended]:
    """The command line in this process, called from the study's folder."""
    return lambda command: call(monkeypatch, capfd, frozen, command)


@pytest.fixture
def refuse(frozen: Path, weighbridge: Callable[[str], Ended]) -> Callable[[Case], None]:
    """Show that a case is refused in one line, and nothing written."""
    return lambda case: assert_refused(frozen, case, lambda c: spawn(frozen, c) if case.process else weighbridge(c))
