"""Two decisions side by side: what differs is named, and numbers of two slices are never compared."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stages.contract import layout
from stages.contract.decision import Decision
from stages.contract.digest import pretty
from stages.contract.errors import WeighbridgeError
from stages.evidence.differing import OF_A_SLICE, SECTIONS, diff
from tests.support.bundles import edit_json, edit_rows, make_bundle


def test_every_field_of_a_decision_is_in_a_section() -> None:
    held = [key for keys in SECTIONS.values() for key in keys]
    assert len(held) == len(set(held))
    unheard = set(Decision.model_fields) - set(held)
    assert unheard == {"schema_", "lineage_why"}


def test_a_study_is_the_same_as_its_bundle_and_its_decision(ran: Path, tmp_path: Path) -> None:
    path = make_bundle(ran, tmp_path / "a.zip")
    for other in (path, ran, ran / layout.DECISION):
        assert diff(ran, other).same
    (tmp_path / "d.json").write_bytes((ran / layout.DECISION).read_bytes())
    assert diff(tmp_path / "d.json", path).same


def test_what_differs_on_one_slice_is_named(ran: Path, study: Path) -> None:
    edit_json(study, layout.DECISION, lambda d: d["counts"].update(excluded=1))
    edit_json(study, layout.DECISION, lambda d: d["candidate"].update(version="2"))
    gone = {"number": 1, "rule": "queue_delay", "scope": "trial", "item_id": "item-0", "arm": "control", "repeat": 0}
    rest = {"time": None, "evidence": "", "accepted": True, "refused_why": None}
    edit_rows(study, layout.EXCLUSIONS, lambda rows: rows.append({**gone, **rest}))
    found = diff(ran, study)
    assert (found.same, found.same_slice) == (False, True)
    assert found.sections == {
        "arms": [("candidate.version", "1.0.0", "2")],
        "exclusions": [("excluded.trial item-0 control 0", None, "queue_delay")],
        "numbers": [("counts.excluded", 0, 1)],
    }


def test_numbers_of_two_slices_are_not_set_side_by_side(ran: Path, study: Path) -> None:
    edit_json(study, layout.DECISION, lambda d: d.update(slice_id="0" * 64))
    edit_json(study, layout.DECISION, lambda d: d["counts"].update(excluded=1))
    edit_json(study, layout.DECISION, lambda d: d["protocol"].update(alpha="0.01"))
    edit_json(study, layout.PLAN, lambda d: d["items"][0].update(stratum="elsewhere"))
    found = diff(ran, study)
    assert not found.same_slice
    assert not set(OF_A_SLICE) & set(found.sections)
    assert ("protocol.alpha", "0.05", "0.01") in found.sections["protocol"]
    assert ("items.item-0.stratum", "left", "elsewhere") in found.sections["pack"]
    done = subprocess.run(
        [sys.executable, "-m", "stages", "diff", str(ran), str(study)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout.startswith("different slices: ")
    assert "excluded" not in done.stdout


def test_what_is_no_decision_is_refused(ran: Path, tmp_path: Path) -> None:
    made = json.loads((ran / layout.DECISION).read_bytes())
    (tmp_path / "less.json").write_bytes(pretty({k: v for k, v in made.items() if k != "counts"}))
    (tmp_path / "none.json").write_text("[]")
    for name in ("less.json", "none.json", "nowhere"):
        with pytest.raises(WeighbridgeError):
            diff(ran, tmp_path / name)
