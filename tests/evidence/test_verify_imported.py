"""A study that was read from logs travels like any other: verify, bundle, and what an edit of it gives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stages.contract import layout
from stages.contract.errors import WeighbridgeError
from stages.contract.importing import ImportParams
from stages.evidence.importing import judge
from stages.evidence.verify import verify
from tests.support.bundles import edit_json, edit_rows, make_bundle, rehash
from tests.support.logs import row, write_rows


@pytest.fixture(scope="module")
def judged_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    passes = {"candidate": 9, "control": 5}
    paths = {
        arm: [str(write_rows(folder / f"{arm}.jsonl", [row(i, i % 12 < most) for i in range(60)]))]
        for arm, most in passes.items()
    }
    judge(folder / "out", ImportParams(**paths), {}, "test")
    return folder / "out"


@pytest.fixture
def copied(judged_study: Path) -> Path:
    """A copy beside the first, so that the way to its logs is the same."""
    root = judged_study.parent / "copy"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(judged_study, root)
    return root


def test_folder_and_bundle_give_the_decision(judged_study: Path, tmp_path: Path) -> None:
    stored = json.loads((judged_study / layout.DECISION).read_bytes())
    path = make_bundle(judged_study, tmp_path / "judged.zip")
    for place in (judged_study, path):
        found = verify(place)
        assert found.differs is None
        assert found.decision == stored
        assert any("logs weren't read again" in line for line in found.left_open)


def test_deep_reads_the_logs_again(judged_study: Path, copied: Path, tmp_path: Path) -> None:
    found = verify(judged_study, deep=True)
    assert found.differs is None
    assert {check.name: check.result for check in found.checks}["logs"] == "ok"
    path = make_bundle(judged_study, tmp_path / "judged.zip")
    assert any("aren't part of a bundle" in line for line in verify(path, deep=True).left_open)
    log = copied.parent / "candidate.jsonl"
    held = log.read_bytes()
    try:
        log.write_bytes(held.replace(b'"passed": false', b'"passed": true', 1).replace(b'"passed":0', b'"passed":1', 1))
        assert log.read_bytes() != held
        deep = verify(copied, deep=True)
        assert deep.exit_code == 1
        assert any("sources" in line or "ledger" in line for check in deep.checks for line in check.differs)
    finally:
        log.write_bytes(held)


EDITS: dict[str, Callable[[Path], Any]] = {
    "an outcome": lambda r: edit_rows(r, layout.LEDGER, lambda rows: rows[0].update(passed=1 - rows[0]["passed"])),
    "a trial": lambda r: edit_rows(r, layout.TRIALS, lambda rows: rows.pop()),
    "a stratum": lambda r: edit_rows(r, layout.ITEMS, lambda rows: rows[0].update(stratum="other")),
    "a pair": lambda r: edit_rows(r, layout.PAIRS, lambda rows: rows[0].update(kept=not rows[0]["kept"])),
    "the protocol": lambda r: edit_json(r, layout.MANIFEST, lambda d: d["protocol"].update(alpha="0.04")),
    "what was read": lambda r: edit_json(r, layout.INGEST, lambda d: d.update(legacy={"x": 1})),
    "the decision": lambda r: edit_json(r, layout.DECISION, lambda d: d.update(decision="publish")),
    "a key of the decision": lambda r: edit_json(r, layout.DECISION, lambda d: d["counts"].update(missing=1)),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_whose_digests_were_made_right_again_is_named(what: str, copied: Path) -> None:
    EDITS[what](copied)
    rehash(copied)
    try:
        said = verify(copied).differs
    except WeighbridgeError as error:
        said = str(error)
    assert said is not None
    assert len(said.splitlines()) == 1
