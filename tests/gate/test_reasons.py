"""Every reason fires when it should and alone; the first of several is the one that is named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stages.gate import PUBLISHED, REASONS
from tests.gate.builder import Item, Study, clear_effect, make_study, outcomes, placebos
from tests.support.stamps import served

# The order in which reasons are named, copied from the contract; `not_a_benchmark` stands in front.
ORDER = [
    "not_a_benchmark",
    "placebo_passed",
    "no_negative_control",
    "outcomes_not_of_manifest",
    "pack_changed_after_run",
    "protocol_changed_after_run",
    "protocol_below_floor",
    "posthoc_exclusion",
    "trials_missing",
    "log_unsound",
    "not_isolated",
    "arms_unequal",
    "not_interleaved",
    "runner_changed",
    "no_session_evidence",
    "no_assumption_ledger",
    "retrospective",
    "registration_missing",
    "family_exceeded",
    "too_few_clean_tasks",
    "stratum_too_small",
    "no_variance",
    "below_minimum_detectable_effect",
    "interval_crosses_zero",
    "bracket_undecided",
    "sign_flip_not_significant",
    "strata_disagree",
    "weights_decide",
    "observed_disagrees",
    "excluded_as_fail_disagrees",
    "beside_as_fail_disagrees",
    "exclusion_asymmetry",
    "too_many_exclusions",
]


def test_the_registry_names_reasons_in_the_contracts_order() -> None:
    assert list(REASONS) == ORDER
    assert all(r.says and r.change for r in REASONS.values())


def test_a_clean_strong_effect_is_published() -> None:
    d = make_study(clear_effect()).decide()
    assert (d["decision"], d["reason"], d["reasons"], d["would_publish"]) == ("publish", PUBLISHED, [], True)


Edit = Callable[[Study], object]


def _all(**changes: Any) -> Edit:
    return lambda s: [row.update(changes) for row in s.ledger]


def _one(**changes: Any) -> Edit:
    return lambda s: s.rows("left-000", "control", 0)[0].update(changes)


def _first(**changes: Any) -> Edit:
    return lambda s: s.campaign.update(changes)


def _placebo_passes(arm: str) -> Edit:
    return lambda s: s.rows("placebo-0", arm, 0)[0].update(verdict="pass", status="passed", passed=1)


def _drop(item_id: str, arm: str) -> Edit:
    def edit(s: Study) -> None:
        s.ledger = [r for r in s.ledger if (r["item_id"], r["arm"]) != (item_id, arm)]

    return edit


CHANGED = {"old": "a" * 64, "new": "b" * 64, "differs": [{"item_id": "left-000", "what": "moved from left to right"}]}

TABLES: list[tuple[str, Edit, str]] = [
    ("placebo_passed", _placebo_passes("candidate"), "1 of 4 placebo trials: placebo-0 (candidate, repeat 0)"),
    ("placebo_passed", _placebo_passes("control"), "1 of 4 placebo trials: placebo-0 (control, repeat 0)"),
    (
        "placebo_passed",
        lambda s: s.rows("placebo-1", "control", 0)[0].update(verdict="pass", status="timeout", ended="timeout"),
        "placebo-1 (control, repeat 0)",
    ),
    ("outcomes_not_of_manifest", _one(plan_sha256="c" * 64), "1 trials of plan cccccccccccccccc, frozen is"),
    ("outcomes_not_of_manifest", lambda s: s.ledger.append({**s.ledger[0], "repeat": 9}), "1 trials that were never"),
    ("pack_changed_after_run", _first(pack_changed=CHANGED), "left-000 moved from left to right"),
    ("pack_changed_after_run", _first(pack_changed={**CHANGED, "differs": []}), "is frozen: pack.yaml"),
    ("protocol_changed_after_run", _one(slice_id="d" * 64), "trials ran under slice dddddddddddddddd, the manifest"),
    ("posthoc_exclusion", lambda s: s.event("candidate_failed", "left-010"), "candidate_failed is not a rule"),
    ("trials_missing", _drop("left-011", "candidate"), "1 of 60 trials and 0 placebo trials have no outcome"),
    ("trials_missing", _drop("placebo-1", "candidate"), "0 of 60 trials and 1 placebo trials have no outcome"),
    ("not_isolated", _all(isolation="none"), "64 of 64 trials ran without isolation"),
    ("not_isolated", _one(verdict_isolation="none"), "1 of 64 trials were judged without isolation"),
    ("arms_unequal", _one(limits='{"memory":true}'), 'control namespaces {"memory":true}; namespaces {}'),
    ("runner_changed", _one(runner_changed="says 3"), "1 trials, such as left-000 (control, repeat 0): says 3"),
    ("retrospective", _first(mode="tutorial"), "run as study.mode tutorial"),
    ("family_exceeded", _first(candidates=["new", "newer"]), "2 candidates tried (new; newer), family is 1"),
]


@pytest.mark.parametrize(("reason", "edit", "figures"), TABLES, ids=[f"{r}-{n}" for n, (r, _, _) in enumerate(TABLES)])
def test_a_reason_of_the_batch_fires_alone_with_its_figures(reason: str, edit: Edit, figures: str) -> None:
    study = make_study(clear_effect())
    edit(study)
    d = study.decide()
    assert d["reasons"] == [reason]
    assert (d["decision"], d["reason"], d["headline"]) == ("withhold", reason, None)
    assert figures in d["reason_details"][reason]
    assert d["would_publish"] is (d["counts"]["missing"] == 0), "the numbers themselves would do"


def test_no_placebo_in_one_arm_is_no_negative_control() -> None:
    study = make_study(clear_effect())
    for n in range(2):
        _drop(f"placebo-{n}", "candidate")(study)
    assert study.decide()["reasons"] == ["no_negative_control", "trials_missing"]


def test_a_pack_without_placebos_is_no_negative_control() -> None:
    d = make_study([i for i in clear_effect() if not i.placebo]).decide()
    assert d["reasons"] == ["no_negative_control"]
    assert d["reason_details"] == {"no_negative_control": "placebo trials scored in 0 of 2 arms"}
    assert d["placebo_bound"] == 1


def test_a_placebo_says_nothing_of_another_kind_of_oracle() -> None:
    items = clear_effect()
    items[3:5] = [replace(item, command=True) for item in items[3:5]]
    bare = make_study(items).decide()
    assert bare["reason_details"] == {
        "no_negative_control": "2 items have a command oracle, and no placebo with one was scored in both arms"
    }
    assert (
        make_study([*items, Item("placebo-9", "left", "F", "F", placebo=True, command=True)]).decide()["reasons"] == []
    )
    once = make_study([*items, Item("placebo-9", "left", "F", ".", placebo=True, command=True)]).decide()
    assert once["reasons"] == ["no_negative_control", "trials_missing"]


def test_a_kind_of_oracle_that_no_kept_item_has_needs_no_placebo() -> None:
    items = clear_effect()
    items[3] = replace(items[3], command=True)
    study = make_study(items)
    study.refuse(items[3].item_id, "oracle_broken")
    assert study.decide()["reasons"] == []


def test_placebo_trials_that_were_lost_show_nothing_of_the_oracle() -> None:
    items = [*clear_effect()[:30], Item("placebo-0", "left", "Y", "F", placebo=True)]
    d = make_study(items).decide()
    assert d["reasons"] == ["no_negative_control"]
    assert d["counts"]["placebos_run"] == 1


def test_a_placebo_that_passes_on_the_untouched_workspace_is_enough() -> None:
    study = make_study(clear_effect())
    study.ledger.clear()
    study.admitted["items"]["placebo-1"]["placebo_passed"] = True
    d = study.decide()
    assert d["reason"] == "placebo_passed"
    assert d["reason_details"]["placebo_passed"] == "1 of 1 placebo trials: placebo-1 (untouched workspace)"
    assert {"no_negative_control", "trials_missing", "no_session_evidence", "no_assumption_ledger"} <= set(d["reasons"])


def test_arms_one_after_the_other_are_not_interleaved() -> None:
    d = make_study(clear_effect(), order="sequential").decide()
    assert d["reason_details"] == {"not_interleaved": "arms.order is sequential"}


def test_arms_hours_apart_are_not_interleaved_where_the_protocol_bounds_the_gap() -> None:
    study = make_study(clear_effect(), {"envelope": {"max_arm_overlap_gap_s": 3600}})
    assert study.decide()["reasons"] == []
    study.rows("left-003", "control", 0)[0]["started_at"] = "2026-03-01T12:00:00.250000Z"
    assert study.decide()["reason_details"] == {
        "not_interleaved": "1 pairs started more than 3600 s apart, at most 7200 s"
    }


def test_arms_served_by_other_models_are_unequal_where_the_protocol_forbids_it() -> None:
    study = make_study(clear_effect(), {"envelope": {"same_served_model_across_arms": True}})
    assert study.decide()["reasons"] == ["arms_unequal"], "nothing shows what served"
    study.stamp("", served=served("m-1"))
    assert study.decide()["reasons"] == []
    study.stamp("left-001", "control", served=served("m-2"))
    assert study.decide()["reason_details"] == {
        "arms_unequal": "candidate served by m-1, control by m-1; m-2",
    }


def test_stamps_that_a_person_asserted_are_no_session_evidence() -> None:
    study = make_study(clear_effect())
    study.stamp("", evidence="asserted")
    d = study.decide()
    assert "no_session_evidence" in d["reasons"]
    assert d["counts"]["pairs_kept"] == 0
    assert d["exclusions"]["missing_stamp"] == {"candidate": 30, "control": 30, "items": 30}


def test_a_protocol_that_doesnt_exclude_unstamped_trials_is_withheld_for_them() -> None:
    study = make_study(clear_effect(), {"exclusion_rules": ["lost"]})
    for row in study.rows("left-004", "control"):
        row["stamps"] = "[]"
    d = study.decide()
    assert d["reasons"] == ["no_session_evidence"]
    assert "1 counted trials have no stamp" in d["reason_details"]["no_session_evidence"]


@pytest.mark.parametrize(
    ("changes", "figures"),
    [
        ({"alpha": 0.2}, "alpha 0.2, at most 0.05"),
        ({"max_excluded_share": "0.11"}, "max_excluded_share 0.11, at most 0.1"),
        ({"min_stratum_items": 4}, "min_stratum_items 4, at least 5"),
        ({"min_kept_items": 8}, "min_kept_items 8, at least 20"),
    ],
)
def test_a_protocol_looser_than_the_hard_limits_is_below_the_floor(changes: dict[str, Any], figures: str) -> None:
    d = make_study(clear_effect(), changes).decide()
    assert d["reason_details"] == {"protocol_below_floor": figures}


@pytest.mark.parametrize(("has", "fires"), [("none", True), ("self_dated", True), ("witnessed", False)])
def test_registration_is_what_the_protocol_demands_or_better(has: str, fires: bool) -> None:
    study = make_study(clear_effect(), {"require_registration": "witnessed"})
    study.register(has)
    assert study.decide()["reasons"] == (["registration_missing"] if fires else [])


def test_an_edited_protocol_is_named_with_what_was_edited() -> None:
    study = make_study(clear_effect(), {"min_detectable_effect": 0.02})
    for row in study.ledger:
        row["slice_id"] = "e" * 64
    study.campaign["protocol"]["min_detectable_effect"] = "0.05"
    details = study.decide()["reason_details"]
    assert list(details) == ["protocol_changed_after_run"]
    assert details["protocol_changed_after_run"].endswith(": min_detectable_effect 0.05 → 0.02")


def _thin(wins: int) -> list[Item]:
    """19 items in the summary: one too few."""
    return [*outcomes("left", wins, 0, 10 - wins), *outcomes("right", wins, 0, 9 - wins), *placebos()]


NUMBERS: list[tuple[list[Item], dict[str, Any], list[str], str]] = [
    (_thin(8), {}, ["too_few_clean_tasks"], "19 items kept in the summary, at least 20"),
    (
        [*outcomes("left", 20, 1, 4), *outcomes("right", 3, 0, 1), *placebos()],
        {},
        ["stratum_too_small"],
        "left 25, right 4; at least 5 each",
    ),
    (
        [*outcomes("left", 12, 0, 0), *outcomes("right", 12, 0, 0), *placebos()],
        {},
        ["no_variance", "interval_crosses_zero"],
        "within every stratum all units have the same difference",
    ),
    (
        [*outcomes("left", 60, 40, 0), *outcomes("right", 60, 40, 0), *placebos()],
        {"min_detectable_effect": "0.21"},
        ["below_minimum_detectable_effect"],
        "Δ +0.2000 [",
    ),
    (
        [*outcomes("left", 8, 7, 0), *outcomes("right", 8, 7, 0), *placebos()],
        {},
        ["interval_crosses_zero", "sign_flip_not_significant"],
        "Δ +0.0667 [-",
    ),
    (
        [*outcomes("left", 30, 0, 0), *outcomes("right", 1, 7, 2), *placebos()],
        {"strata_weights": {"left": "0.9", "right": "0.1"}},
        ["strata_disagree"],
        "strata left +1.0000, right -0.6000",
    ),
    (
        [*outcomes("big", 40, 0, 0), *outcomes("small", 1, 9, 0), *outcomes("tiny", 1, 9, 0), *placebos(2, 1, "big")],
        {"strata_weights": "proportional"},
        ["strata_disagree", "weights_decide"],
        "equal -0.2, proportional 0.4",
    ),
]


@pytest.mark.parametrize(("items", "protocol", "reasons", "figures"), NUMBERS, ids=[n[2][0] for n in NUMBERS])
def test_a_reason_of_the_numbers_fires_with_its_figures(
    items: list[Item], protocol: dict[str, Any], reasons: list[str], figures: str
) -> None:
    d = make_study(items, protocol).decide()
    assert d["reasons"] == reasons
    assert any(figures in text for text in d["reason_details"].values()), d["reason_details"]
    assert d["would_publish"] is False


def test_sign_flip_alone_may_withhold_where_the_interval_would_publish() -> None:
    """6 wins of 24, none lost: 2 / 2^6 = .031 two-sided passes .04; 5 wins: .0625 doesn't, the interval does."""
    six = make_study([*outcomes("left", 3, 0, 9), *outcomes("right", 3, 0, 9), *placebos()]).decide()
    assert six["reasons"] == []
    assert six["summary"]["p_sign_flip"] == 2 / 2**6
    five = make_study([*outcomes("left", 3, 0, 9), *outcomes("right", 2, 0, 10), *placebos()]).decide()
    assert five["summary"]["p_sign_flip"] == 2 / 2**5
    assert five["summary"]["lo"] > 0
    assert five["reason_details"] == {"sign_flip_not_significant": "p 0.0625, alpha spent 0.04"}


def test_a_p_equal_to_the_alpha_that_is_spent_is_enough() -> None:
    """.8 of 5/128 is 1/32, which is what six wins and no loss give."""
    items = [*outcomes("left", 3, 0, 9), *outcomes("right", 3, 0, 9), *placebos()]
    d = make_study(items, {"alpha": "0.0390625"}).decide()
    assert d["summary"]["p_sign_flip"] == d["summary"]["alpha_spent"] == 1 / 32
    assert d["reasons"] == []


def test_an_empty_stratum_of_the_summary_is_too_small_and_nothing_else() -> None:
    study = make_study(
        [*outcomes("left", 20, 1, 4), *outcomes("right", 5, 0, 0), *placebos()], {"max_excluded_share": 0.1}
    )
    for n in range(5):
        study.refuse(f"right-{n:03}", "oracle_broken")
    d = study.decide()
    assert d["reasons"] == ["stratum_too_small"]
    assert d["summary"]["delta"] is None
    assert d["summary"]["interval_why"] == "a stratum of the summary has no item left"


def test_all_that_fails_is_listed_and_the_first_is_named() -> None:
    study = make_study(_thin(0), {"min_kept_items": 19}, order="sequential")
    _placebo_passes("candidate")(study)
    study.campaign["candidates"] = ["a", "b"]
    d = study.decide()
    assert d["reason"] == "placebo_passed"
    assert d["reasons"] == [
        "placebo_passed",
        "protocol_below_floor",
        "not_interleaved",
        "family_exceeded",
        "no_variance",
        "below_minimum_detectable_effect",
        "interval_crosses_zero",
        "sign_flip_not_significant",
    ]
    assert list(d["reason_details"]) == d["reasons"]


def test_every_reason_that_a_test_here_doesnt_show_is_shown_elsewhere() -> None:
    here = Path(__file__).parent
    text = "".join(p.read_text(encoding="utf-8") for p in here.glob("test_*.py"))
    shown = set(re.findall(r'"([a-z_]+)"', json.dumps(text).replace("\\", "")))
    assert set(REASONS) <= shown
