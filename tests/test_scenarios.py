"""Ways in which a number is bent after the fact; each withholds with its own reason and shows its figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.contract import layout
from tests.support.bundles import verifies
from tests.support.mini import make_study, stage, write, write_params

REST = ("preflight", "run", "score", "exclude", "report")


def decided(root: Path) -> dict[str, Any]:
    """The decision, which a stranger derives from the same bytes however it came out."""
    return verifies(root)


def trials_in(root: Path) -> int:
    import sqlite3

    with sqlite3.connect(root / ".trials/journal.sqlite") as db:
        return int(db.execute("SELECT count(*) FROM claims").fetchone()[0])


def test_a_floor_lowered_after_the_run(study: Path) -> None:
    before = trials_in(study)
    write_params(study, protocol={"min_stratum_items": 2, "min_kept_items": 4})
    stage(study, "freeze", "exclude", "report")
    found = decided(study)
    assert found["reason"] == "protocol_changed_after_run"
    assert "min_kept_items 20 → 4" in found["reason_details"]["protocol_changed_after_run"]
    assert "protocol_below_floor" in found["reasons"]
    assert found["summary"]["delta"] is not None
    assert trials_in(study) == before


@pytest.mark.heavy
def test_a_stratum_moved_after_the_run(study: Path) -> None:
    before = trials_in(study)
    path = study / "data/pack/tasks/item-1/task.yaml"
    task = yaml.safe_load(path.read_text(encoding="utf-8"))
    write(path, yaml.safe_dump({**task, "stratum": "left"}))
    stage(study, "freeze", *REST)
    found = decided(study)
    assert found["reason"] == "pack_changed_after_run"
    assert "item-1 moved from right to left" in found["reason_details"]["pack_changed_after_run"]
    assert trials_in(study) == before


@pytest.mark.heavy
def test_an_oracle_edited_after_the_run(study: Path) -> None:
    before = trials_in(study)
    path = study / "data/pack/tasks/item-2/oracle/test_oracle.py"
    write(path, path.read_text(encoding="utf-8").replace("== 3", "in (3, -1)"))
    stage(study, "freeze", *REST)
    found = decided(study)
    assert found["reason"] == "pack_changed_after_run"
    assert "item-2 edited" in found["reason_details"]["pack_changed_after_run"]
    assert trials_in(study) == before


def test_a_posthoc_exclusion(study: Path) -> None:
    event = {"rule": "candidate_failed", "item_id": "item-0", "time": "2026-11-30T12:00:00Z"}
    write(study / layout.EVENTS, json.dumps(event) + "\n")
    stage(study, "exclude", "report")
    found = decided(study)
    assert found["reason"] == "posthoc_exclusion"
    assert "candidate_failed for item-0" in found["reason_details"]["posthoc_exclusion"]
    assert found["counts"]["excluded"] == 0


def test_a_registered_rule_without_evidence_comes_too_late(study: Path) -> None:
    event = {"rule": "oracle_broken", "item_id": "item-0", "time": "2020-01-01T00:00:00Z"}
    write(study / layout.EVENTS, json.dumps(event) + "\n")
    stage(study, "exclude", "report")
    found = decided(study)
    assert found["reason"] == "posthoc_exclusion"
    assert "not true on the frozen bytes" in found["reason_details"]["posthoc_exclusion"]


@pytest.mark.heavy
def test_a_loose_alpha(tmp_path: Path) -> None:
    root = make_study(tmp_path / "s", items=2, placebos=1, protocol={"alpha": 0.1, "trial_budget": 1})
    stage(root, "freeze", *REST)
    found = decided(root)
    assert found["reason"] == "protocol_below_floor"
    assert "alpha 0.1, at most 0.05" in found["reason_details"]["protocol_below_floor"]


@pytest.mark.heavy
def test_a_placebo_that_an_agent_can_pass_stops_all_spending(tmp_path: Path) -> None:
    root = make_study(tmp_path / "s", items=2, placebos=2, skills=(100, 100), protocol={"trial_budget": 3})
    oracle = root / "data/pack/tasks/placebo-0/oracle/test_oracle.py"
    write(oracle, "from m_placebo_0 import add\n\n\ndef test_sum():\n    assert add(1, 2) == 3\n")
    stage(root, "freeze", *REST)
    found = decided(root)
    assert found["reason"] == "placebo_passed"
    assert found["counts"]["placebos_passed"] >= 1
    assert "placebo-0" in found["reason_details"]["placebo_passed"]
    started = trials_in(root)
    assert started < 4 * 3 * 2
    stage(root, "run", "score", "exclude", "report")
    assert trials_in(root) == started


@pytest.mark.heavy
def test_a_placebo_that_passes_untouched_starts_no_arm(tmp_path: Path) -> None:
    root = make_study(tmp_path / "s", items=2, placebos=1, protocol={"trial_budget": 1})
    oracle = root / "data/pack/tasks/placebo-0/oracle/test_oracle.py"
    write(oracle, "from m_placebo_0 import add\n\n\ndef test_sum():\n    assert add(1, 2) == -1\n")
    stage(root, "freeze", *REST)
    found = decided(root)
    assert found["reason"] == "placebo_passed"
    assert "untouched workspace" in found["reason_details"]["placebo_passed"]
    assert trials_in(root) == 0


@pytest.mark.heavy
def test_unsound_items_are_refused_before_any_arm(tmp_path: Path) -> None:
    root = make_study(tmp_path / "s", items=4, placebos=1, protocol={"trial_budget": 1})
    tasks = root / "data/pack/tasks"
    write(
        tasks / "item-0/oracle/test_oracle.py",
        "from m_item_0 import add\n\n\ndef test_sum():\n    assert add(1, 2) < 9\n",
    )
    flaky = "import os\nfrom m_item_1 import add\n\n\ndef test_sum():\n    assert add(1, 2) == 3 and os.urandom(1)[0] < 60\n"
    write(tasks / "item-1/oracle/test_oracle.py", flaky)
    solution = (tasks / "item-2/solution/m_item_2.py").read_text(encoding="utf-8")
    write(tasks / "item-2/statement.md", "Make it so:\n\n" + "\n".join(f"    {line}" for line in solution.splitlines()))
    long = "def add(a: int, b: int) -> int:\n    total = a + b  # the sum of both of them, nothing else\n    return total\n"
    write(tasks / "item-2/solution/m_item_2.py", long)
    write(tasks / "item-2/statement.md", f"Make it so:\n\n{long}")
    stage(root, "freeze", *REST)
    admitted = json.loads((root / layout.ADMITTED).read_bytes())["items"]
    assert admitted["item-0"]["rule"] == "oracle_broken"
    assert admitted["item-1"]["rule"] in ("oracle_flaky", "oracle_broken")
    assert admitted["item-2"]["rule"] == "leaked_solution"
    assert admitted["item-3"]["admitted"]
    found = decided(root)
    assert found["counts"]["excluded"] == 3 * 2
    assert found["counts"]["missing"] == 0
    assert set(found["dropped"]) == {"item-0", "item-1", "item-2"}


@pytest.mark.heavy
def test_a_new_campaign_is_a_look_and_a_second_candidate_exceeds_the_family(study: Path) -> None:
    write_params(study, protocol={"campaign": "2"})
    stage(study, "freeze", *REST)
    found = decided(study)
    assert found["looks"]["look"] == 2
    assert found["summary"]["alpha_spent"] == 0.05 / 5 / 2
    write_params(study, protocol={"campaign": "2"}, arms={"candidate": {"name": "other"}})
    stage(study, "freeze", *REST)
    found = decided(study)
    assert "family_exceeded" in found["reasons"]
    assert found["looks"]["candidates"] == ["able", "other"]
