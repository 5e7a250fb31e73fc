"""A stage writes all of its outputs or none, and only from inputs that stood still."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from stages.contract import parquet, tables
from stages.contract.errors import InputError, MissingInput
from stages.contract.files import Outputs, replace_bytes, stage
from tests.cli.refusals import snapshot
from tests.support.mini import write

INPUTS = [Path("in.txt"), Path("folder")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Inputs, and outputs of an earlier time."""
    write(tmp_path / "in.txt", "input")
    write(tmp_path / "folder/deep/a.txt", "a")
    (tmp_path / "folder/link").symlink_to("deep/a.txt")
    write(tmp_path / "out/old.json", "old")
    return tmp_path


def outputs(out: Outputs) -> None:
    out.bytes(Path("out/old.json"), b"new")
    out.bytes(Path("out/deep/new.json"), b"new")
    out.table(Path("out/calls.parquet"), parquet.table(tables.CALLS, []))


def run(root: Path, act: Callable[[Outputs], object], optional: Sequence[Path] = ()) -> None:
    """A stage that does this."""
    with stage(root, INPUTS, optional) as out:
        act(out)


def test_outputs_are_written_when_the_stage_is_done_and_not_before(root: Path) -> None:
    with stage(root, INPUTS) as out:
        outputs(out)
        assert (root / "out/old.json").read_text() == "old"
        assert not (root / "out/deep").exists()
    assert (root / "out/old.json").read_text() == (root / "out/deep/new.json").read_text() == "new"
    assert parquet.read(root / "out/calls.parquet", tables.CALLS).num_rows == 0
    assert not list(root.rglob("*.tmp"))


EDITS: dict[str, Callable[[Path], object]] = {
    "a file": lambda root: (root / "in.txt").write_text("other"),
    "a file of a folder": lambda root: (root / "folder/deep/a.txt").write_text("b"),
    "a file more": lambda root: (root / "folder/deep/b.txt").write_text(""),
    "a folder more": lambda root: (root / "folder/empty").mkdir(),
    "a file less": lambda root: (root / "folder/deep/a.txt").unlink(),
    "the input itself": lambda root: (root / "in.txt").unlink(),
    "an optional file": lambda root: (root / "maybe.txt").write_text(""),
    "a mode": lambda root: (root / "folder/deep/a.txt").chmod(0o755),
    "a link": lambda root: ((root / "folder/link").unlink(), (root / "folder/link").symlink_to("deep")),
    "a pipe": lambda root: os.mkfifo(root / "folder/pipe"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_input_that_changes_meanwhile_refuses_everything(root: Path, edit: str) -> None:
    seen = []

    def act(out: Outputs) -> None:
        outputs(out)
        EDITS[edit](root)
        seen.append(snapshot(root))

    with pytest.raises(InputError, match="changed while the stage was running"):
        run(root, act, [Path("maybe.txt")])
    assert [snapshot(root)] == seen


def test_times_alone_are_no_change(root: Path) -> None:
    with stage(root, INPUTS) as out:
        outputs(out)
        os.utime(root / "in.txt", (1, 1))
    assert (root / "out/old.json").read_text() == "new"


def test_an_error_in_the_stage_writes_nothing(root: Path) -> None:
    before = snapshot(root)
    with pytest.raises(ZeroDivisionError):
        run(root, lambda out: (outputs(out), 1 / 0))
    assert snapshot(root) == before


def test_a_missing_input_is_named_before_anything_runs(root: Path) -> None:
    (root / "in.txt").unlink()
    ran: list[Outputs] = []
    with pytest.raises(MissingInput, match=r"in.txt: isn't there.*dvc pull"):
        run(root, ran.append)
    assert ran == []


def test_one_output_that_cant_be_written_leaves_all_of_them_as_they_were(root: Path) -> None:
    write(root / "blocked", "a file where a folder should be")
    before = snapshot(root)
    with pytest.raises(InputError, match=r"blocked/x.json: can't be written"):
        run(root, lambda out: (outputs(out), out.bytes(Path("blocked/x.json"), b"new")))
    assert snapshot(root)["out/old.json"] == before["out/old.json"]
    assert not list(root.rglob("*.parquet")) + list(root.rglob("*.tmp"))


def test_a_full_disk_leaves_the_old_outputs_whole(root: Path) -> None:
    before = snapshot(root)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def act(out: Outputs) -> None:
        out.bytes(Path("out/old.json"), b"new")
        out.bytes(Path("out/large"), b"x" * 10_000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))

    try:
        with pytest.raises(InputError, match=r"out/large: can't be written \(File too large\)"):
            run(root, act)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert snapshot(root) == before


def test_a_table_with_a_key_twice_leaves_the_old_outputs_whole(root: Path) -> None:
    row = {"item_id": "a", "arm": "control", "repeat": 0, "attempt": 1, "call": 0, "record": ""}
    twice = parquet.table(tables.CALLS, [row, row])
    before = snapshot(root)
    with pytest.raises(InputError, match="same key"):
        run(root, lambda out: (out.bytes(Path("out/old.json"), b"new"), out.table(Path("out/calls.parquet"), twice)))
    assert snapshot(root) == before


def test_an_output_that_is_a_link_into_a_cache_is_replaced_and_the_cache_isnt_touched(root: Path) -> None:
    write(root / "cache/ab", "cached")
    (root / "out/old.json").unlink()
    (root / "out/old.json").symlink_to("../cache/ab")
    with stage(root, INPUTS) as out:
        outputs(out)
    assert (root / "cache/ab").read_text() == "cached"
    assert not (root / "out/old.json").is_symlink()
    replace_bytes(root / "out/old.json", b"again")
    assert (root / "out/old.json").read_text() == "again"
