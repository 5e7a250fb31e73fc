"""A ledger row: what a trial came to, from how it ended and what the oracle said."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from stages.contract.errors import UsageError
from stages.contract.findings_of_read import FINDINGS_OF_READ
from stages.gate import PUBLISHED, REASONS, RULES, ledger_row, runner_changes
from stages.gate.explain import entries, lookup
from tests.gate.builder import Item, make_study

COUNTED: dict[str, int | None] = dict.fromkeys(
    ("generated_lines", "invented_imports", "invented_env", "unauthorised_files", "violations", "extended"), 0
) | {"interface_drift": None}


def row(ended: str = "completed", placebo: bool = False, **verdicts: str) -> dict[str, Any]:
    study = make_study([Item("a", "left", "P", "F", placebo=placebo), Item("b", "left", "P", "F")])
    trial = {**study.rows("a", "candidate")[0], "time_budget_s": 4, "ended": ended, "reason": None}
    said = {
        kind: {"verdict": verdict, "reason": "told", "isolation": "namespaces"} for kind, verdict in verdicts.items()
    }
    return ledger_row(trial, study.plan.items[0], said, COUNTED, [], 0, None)


@pytest.mark.parametrize(
    ("ended", "verdict", "status", "passed", "late"),
    [
        ("completed", "pass", "passed", 1, False),
        ("completed", "fail", "failed", 0, False),
        ("completed", "broken", "broken", 0, False),
        ("completed", "tamper", "broken", 0, False),
        ("timeout", "pass", "timeout", 0, True),
        ("timeout", "fail", "timeout", 0, False),
        ("aborted", "pass", "aborted", 0, False),
    ],
)
def test_only_a_completed_trial_that_the_oracle_passed_counts_one(
    ended: str, verdict: str, status: str, passed: int, late: bool
) -> None:
    made = row(ended, first=verdict, inside=verdict)
    assert (made["status"], made["passed"], made["late_pass"], made["verdict"]) == (status, passed, late, verdict)


def test_a_trial_without_a_verdict_is_lost_or_broken_and_never_passed() -> None:
    assert [row(ended)["status"] for ended in ("lost", "aborted", "completed")] == ["lost", "aborted", "broken"]
    assert row("lost")["verdict"] is None


@pytest.mark.parametrize(("first", "again"), [("pass", "fail"), ("fail", "pass"), ("pass", "broken")])
def test_two_verdicts_on_one_patch_are_a_fail_and_both_are_named(first: str, again: str) -> None:
    made = row(first=first, recheck=again)
    assert (made["status"], made["passed"]) == ("failed", 0)
    assert made["verdict_reason"] == f"two verdicts on one patch: {first}, then {again}"


@pytest.mark.parametrize("verdicts", [{"first": "pass", "recheck": "fail"}, {"first": "fail", "recheck": "pass"}])
def test_a_single_pass_of_a_placebo_is_one(verdicts: dict[str, str]) -> None:
    assert row(placebo=True, **verdicts)["verdict"] == "pass"
    assert row(placebo=True, first="fail", inside="pass")["verdict"] == "pass"
    assert row("timeout", placebo=True, **verdicts)["verdict"] == "pass"
    assert row(placebo=True, first="fail", recheck="fail", inside="broken")["verdict"] == "fail"


def test_a_row_holds_what_limits_a_verdict_and_the_weakest_tier_that_an_oracle_ran_in() -> None:
    made = row(first="pass", inside="pass")
    assert (made["wall_s"], made["budget_share"], made["verdict_isolation"]) == (1.0, 0.25, "namespaces")
    assert (made["cpu_s"], made["max_rss_kb"], made["load_1m"]) == (0.5, 20_000, 0.25)
    assert row("lost")["verdict_isolation"] is None
    study = make_study([Item("a", "left", "P", "F")])
    trial = {**study.rows("a", "candidate")[0], "time_budget_s": 4, "reason": None}
    said = {
        kind: {"verdict": "pass", "reason": "told", "isolation": tier}
        for kind, tier in (("first", "namespaces"), ("recheck", "none"))
    }
    assert ledger_row(trial, study.plan.items[0], said, COUNTED, [], 0, None)["verdict_isolation"] == "none"


def trial(repeat: int, started: str, **changes: Any) -> dict[str, Any]:
    same = {"item_id": "a", "arm": "candidate", "repeat": repeat, "started_at": started, "version_said": "1.0"}
    return {**same, "install_before": "x", "install_after": "x", **changes}


def test_a_runner_is_held_against_the_arms_first_trial_in_time() -> None:
    trials = [
        trial(2, "2026-03-01T10:00:02Z", version_said="1.1"),
        trial(0, "2026-03-01T10:00:09Z", install_before="y", install_after="y"),
        trial(1, "2026-03-01T10:00:01Z"),
        trial(3, "2026-03-01T10:00:03Z", install_after="z"),
        {**trial(0, "2026-03-01T09:00:00Z", version_said="7"), "arm": "control"},
    ]
    assert runner_changes(trials) == {
        ("a", "candidate", 0): "other installed files than in the arm's first trial",
        ("a", "candidate", 2): "says 1.1, in the arm's first trial 1.0",
        ("a", "candidate", 3): "installed files changed during the trial",
    }
    assert runner_changes(trials[::-1]) == runner_changes(trials)
    assert runner_changes([]) == {}


def test_every_reason_and_rule_can_be_explained() -> None:
    assert [e["id"] for e in entries()] == [PUBLISHED, *REASONS, *RULES, *FINDINGS_OF_READ, "not_reached"]
    assert all(lookup(e["id"]) == e and e["says"].endswith(".") for e in entries())
    with pytest.raises(UsageError, match="nearest: placebo_passed"):
        lookup("placebo_pased")


def test_naming_the_gate_doesnt_load_pandas() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, stages.gate; print('pandas' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
