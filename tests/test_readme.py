"""The README is true of what is here."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.support.readme import ROOT, block, generated

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["decision", "reasons", "rules"])
def test_generated_parts_are_fresh(name: str) -> None:
    assert block(name, generated()[name]) in TEXT, "run python -m tests.support.readme"


@pytest.mark.parametrize("kind", ["run", "test"])
def test_there_is_one_line_to_run_and_one_to_test(kind: str) -> None:
    found = re.findall(rf"^```sh {kind}\s*\n(.*?)^```", TEXT, re.S | re.M)
    assert len(found) == 1
    assert len(found[0].strip().splitlines()) == 1


def test_commands_that_it_names_exist() -> None:
    for name in sorted(set(re.findall(r"`weighbridge ([a-z-]+)", TEXT))):
        done = subprocess.run([sys.executable, "-m", "stages", name, "--help"], capture_output=True, check=False)
        assert done.returncode == 0, name


def test_use_your_own_fits_on_a_screen() -> None:
    own = TEXT.split("## Use your own pack and agents")[1].split("\n## ")[0]
    assert len(own.splitlines()) <= 50


def test_the_bundled_lock_is_not_stale() -> None:
    """DVC finds nothing changed but outputs that weren't pulled."""
    done = subprocess.run(
        [sys.executable, "-m", "dvc", "status", "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    stale = re.findall(r'"(?:changed deps|params)[^"]*"|"modified"|"new"', done.stdout)
    assert not stale, done.stdout
