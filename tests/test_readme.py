"""The README is true of what is here."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.support.readme import ROOT, block, generated

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["decision", "reasons", "rules", "findings"])
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
    """Nothing that a stage reads, and that is in git, differs from what the lock says it read."""
    done = subprocess.run(
        [sys.executable, "-m", "dvc", "status", "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    stale = {
        (stage, path)
        for stage, entries in json.loads(done.stdout).items()
        for entry in entries
        if isinstance(entry, dict)
        for path, what in entry.get("changed deps", {}).items()
        # outputs of other stages that weren't pulled are missing, not stale
        if what != "deleted" and not path.startswith(("data/preflight", "data/trials", "data/ledger", "data/kept"))
    }
    assert not stale
