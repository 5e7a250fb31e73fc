"""Pairs: what an exclusion takes with it, what is dropped as too thin, and sums that always come out."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.contract.errors import InputError
from stages.gate.evidence import counts, tidy
from tests.gate.builder import ARMS, Item, Study, clear_effect, make_study, outcomes, placebos


def pair(study: Study, item_id: str, repeat: int = 0) -> dict[str, Any]:
    return next(p for p in study.tables()[0] if (p["item_id"], p["repeat"]) == (item_id, repeat))


def one(candidate: str, control: str) -> Study:
    return make_study([Item("a", "left", candidate, control), *placebos(1, len(candidate))])


def test_an_excluded_trial_drops_its_pair_and_names_both_rules() -> None:
    study = one("PPP", "FFF")
    study.stamp("a", "control", 1, queue_ms=4000.5)
    found = pair(study, "a", 1)
    assert (found["candidate_rule"], found["control_rule"], found["kept"]) == ("pair_partner", "queue_delay", False)
    assert (found["candidate"], found["control"]) == (1, 0), "outcomes stay for the views"
    rows = {r["rule"]: r for r in study.tables()[1]}
    assert rows["queue_delay"]["evidence"] == "attempt 1: queue_ms 4000.5, at most 4000"
    assert (rows["queue_delay"]["scope"], rows["queue_delay"]["arm"], rows["queue_delay"]["repeat"]) == (
        "trial",
        "control",
        1,
    )
    assert rows["pair_partner"]["evidence"] == "control was excluded by queue_delay"
    assert rows["pair_partner"]["time"] == "2026-03-01T10:00:00Z"
    assert all(pair(study, "a", r)["kept"] for r in (0, 2))


def test_both_trials_of_a_pair_may_be_excluded_each_by_its_own_rule() -> None:
    study = one("P", "F")
    study.stamp("a", "control", retries=2)
    study.stamp("a", "candidate", route_changed=True)
    found = pair(study, "a")
    assert (found["candidate_rule"], found["control_rule"]) == ("route_change", "retries")
    assert [r["rule"] for r in study.tables()[1]] == ["route_change", "retries"]


@pytest.mark.parametrize(
    ("k", "kept", "dropped"), [(1, 1, False), (2, 1, False), (3, 2, False), (3, 1, True), (5, 2, True)]
)
def test_an_item_with_fewer_than_half_of_its_pairs_is_dropped_by_a_rule_of_its_own(
    k: int, kept: int, dropped: bool
) -> None:
    study = one("P" * k, "F" * k)
    for repeat in range(kept, k):
        study.stamp("a", "candidate", repeat, server_id="else")
    pairs, exclusions = study.tables()
    assert sum(p["kept"] for p in pairs) == (0 if dropped else kept)
    thin = [r for r in exclusions if r["rule"] == "too_few_pairs"]
    assert len(thin) == dropped
    if dropped:
        assert thin[0]["evidence"] == f"{kept} of {k} pairs kept, at least {math.ceil(k / 2)}"
        rules = [p["control_rule"] for p in pairs]
        assert rules == ["too_few_pairs"] * kept + ["pair_partner"] * (k - kept)


def test_lost_once_is_excluded_and_lost_twice_fails() -> None:
    once, twice = pair(one("X", "P"), "a"), pair(one("Y", "P"), "a")
    assert (once["candidate_rule"], once["candidate"], once["kept"]) == ("lost", None, False)
    assert (twice["candidate_rule"], twice["candidate"], twice["kept"]) == (None, 0, True)


def test_lost_once_fails_too_where_the_rule_wasnt_registered() -> None:
    study = make_study([Item("a", "left", "X", "P")], {"exclusion_rules": ["missing_stamp"]})
    assert (pair(study, "a")["candidate"], pair(study, "a")["kept"]) == (0, True)


@pytest.mark.parametrize("letter", ["F", "B", "T", "L", "A", "Y"])
def test_whatever_an_agent_does_counts_as_a_fail_and_is_kept(letter: str) -> None:
    found = pair(one(letter, "P"), "a")
    assert (found["candidate"], found["control"], found["kept"]) == (0, 1, True)
    assert found["candidate_late"] is (letter == "L")


def test_a_rule_that_wasnt_registered_excludes_nothing_and_hides_no_other() -> None:
    study = make_study([Item("a", "left", "P", "F")], {"exclusion_rules": ["quota_state"]})
    study.stamp("a", "candidate", server_id="else", queue_ms=9000.0)
    assert pair(study, "a")["kept"]
    study.stamp("a", "candidate", quota_state="throttled")
    assert pair(study, "a")["candidate_rule"] == "quota_state"


def test_all_attempts_must_be_inside_the_envelope_not_just_the_last() -> None:
    study = one("Y", "P")
    study.rows("a", "candidate")[0].update(status="passed", passed=1, ended="completed", verdict="pass")
    assert pair(study, "a")["kept"]
    study.stamp("a", "candidate", attempt=1, server_id="else")
    assert pair(study, "a")["candidate_rule"] == "foreign_server"


def test_a_stamp_of_another_trial_is_a_missing_one() -> None:
    study = one("PP", "FF")
    study.stamp("a", "candidate", 0, repeat=1)
    assert pair(study, "a", 0)["candidate_rule"] == "missing_stamp"
    study.stamp("a", "candidate", 0, repeat=0, arm="control")
    assert pair(study, "a", 0)["candidate_rule"] == "missing_stamp"
    assert "a stamp of a (control, repeat 0)" in [r["evidence"] for r in study.tables()[1]]


def test_what_preflight_refused_is_excluded_in_both_arms_with_its_evidence() -> None:
    study = make_study(clear_effect())
    study.refuse("left-014", "oracle_flaky")
    check = {"item_id": "left-014", "rule": "oracle_flaky", "check": "baseline", "found": "pass", "expected": "fail"}
    study.checks = [{**check, "observed_at": "2026-02-28T08:00:00Z"}, {**check, "observed_at": "2026-02-28T07:00:00Z"}]
    found = pair(study, "left-014")
    assert (found["candidate_rule"], found["control_rule"], found["first"]) == ("oracle_flaky", "oracle_flaky", "none")
    row = study.tables()[1][0]
    assert (row["scope"], row["time"], row["evidence"]) == (
        "item",
        "2026-02-28T07:00:00Z",
        "baseline: found pass, expected fail",
    )
    d = study.decide()
    assert d["decision"] == "publish"
    assert d["excluded_share"] == {"pairs": 0, "of": 29, "limit": "0.05"}, "preflight refusals aren't in the share"
    assert d["dropped"] == ["left-014"]
    assert d["counts"]["excluded"] == 2


def test_placebos_enter_no_pair_rate_weight_floor_or_share() -> None:
    few, many = make_study(clear_effect()), make_study([*clear_effect()[:30], *placebos(30, 1, "right")])
    many.stamp("placebo-9", "candidate", server_id="else")
    one_, other = few.decide(), many.decide()
    for key in ("summary", "strata", "arms", "win_rate", "sensitivity", "excluded_share", "exclusions", "asymmetry"):
        assert one_[key] == other[key], key
    same = {k: v for k, v in one_["counts"].items() if k != "placebos_run"}
    assert same == {k: v for k, v in other["counts"].items() if k != "placebos_run"}
    assert other["counts"]["placebos_run"] == 60
    assert not any(p["item_id"].startswith("placebo") for p in many.tables()[0])
    assert many.tables()[1] == []


def test_a_placebo_that_preflight_refused_is_no_exclusion_and_is_not_missing() -> None:
    study = make_study(clear_effect())
    study.refuse("placebo-0", "oracle_broken")
    assert study.tables()[1] == []
    d = study.decide()
    assert (d["decision"], d["counts"]["placebos_run"]) == ("publish", 2)


def test_arms_of_unequal_length_are_missing_trials_not_shorter_pairs() -> None:
    """The trial-budget article refuses unequal arms; here the rest is missing, and nothing is published."""
    study = one("PPP", "FF.")
    found = tidy(study.evidence())
    assert counts(found)["missing"] == 1
    assert pair(study, "a", 2)["candidate_rule"] == "pair_partner"
    d = make_study([*clear_effect(3)[1:], Item("left-000", "left", "PPP", "FF.")]).decide()
    assert d["reasons"] == ["trials_missing"], "the partner of a missing trial isn't an exclusion"
    assert d["excluded_share"]["pairs"] == 0


LETTERS = "PFBTLAXY."
ITEM = st.tuples(st.text(LETTERS, min_size=3, max_size=3), st.text(LETTERS, min_size=3, max_size=3))


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    items=st.lists(ITEM, min_size=1, max_size=6),
    foreign=st.sets(st.tuples(st.integers(0, 5), st.sampled_from(ARMS), st.integers(0, 2))),
    refused=st.sets(st.integers(0, 5)),
    asked=st.sets(st.integers(0, 5)),
)
def test_planned_is_always_scored_and_excluded_and_missing(
    items: list[tuple[str, str]], foreign: set[tuple[int, str, int]], refused: set[int], asked: set[int]
) -> None:
    study = make_study([*(Item(f"i{n}", "left", c, o) for n, (c, o) in enumerate(items)), *placebos(1, 3)])
    for n, arm, repeat in foreign:
        study.stamp(f"i{n}", arm, repeat, server_id="else")
    for n in refused & set(range(len(items))):
        study.refuse(f"i{n}", "oracle_broken")
    for n in asked & set(range(len(items))):
        study.event("leaked_solution", f"i{n}", before=n % 2 == 0)
    pairs, exclusions = study.tables()
    found = counts(tidy(study.evidence()))
    assert found["planned"] == 6 * len(items) == found["scored"] + found["excluded"] + found["missing"]
    assert len(pairs) == 3 * len(items)
    kept = Counter(p["item_id"] for p in pairs if p["kept"])
    assert found["pairs_kept"] == sum(kept.values())
    assert found["items_kept"] == len(kept)
    assert all(n >= 2 for n in kept.values()), "half of three repeats"
    assert found["scored"] == 2 * found["pairs_kept"], "a trial counts with its partner or not at all"
    for p in pairs:
        there = p["candidate_status"] != "missing" and p["control_status"] != "missing"
        assert p["kept"] == (there and p["candidate_rule"] is None and p["control_rule"] is None)
    named = {(r["rule"], r["item_id"], r["arm"], r["repeat"]) for r in exclusions}
    for p in pairs:
        for arm in ARMS:
            rule = p[f"{arm}_rule"]
            places = {(rule, p["item_id"], arm, p["repeat"]), (rule, p["item_id"], None, None)}
            assert rule is None or places & named, "what is excluded is written down"
    assert [r["number"] for r in exclusions] == list(range(1, len(exclusions) + 1))
    shuffled = study
    shuffled.ledger.reverse()
    assert shuffled.tables() == (pairs, exclusions), "the order of the ledger is of no account"


def test_files_that_dont_belong_together_are_refused_in_one_line() -> None:
    good = make_study(outcomes("left", 3, 0, 0))
    other = make_study(outcomes("left", 4, 0, 0))
    edited = good.manifest.protocol.model_copy(update={"min_kept_items": 3})
    for changes, place in (
        ({"manifest": other.manifest}, "manifest.json"),
        ({"manifest": good.manifest.model_copy(update={"protocol": edited})}, "slice_id"),
        ({"manifest": good.manifest.model_copy(update={"study_id": "0" * 64})}, "study_id"),
        ({"manifest": good.manifest.model_copy(update={"strata": {"left": 300}})}, "strata"),
        ({"campaign": {k: v for k, v in good.campaign.items() if k != "look"}}, "look"),
        ({"campaign": {**good.campaign, "look": 0}}, "look"),
        ({"campaign": {**good.campaign, "registration": "sworn"}}, "registration"),
        ({"campaign": {**good.campaign, "candidates": "new"}}, "candidates"),
    ):
        study = Study(**{**vars(good), **changes})
        with pytest.raises(InputError, match=place) as error:
            study.tables()
        assert "\n" not in str(error.value)
