"""Exclusions that do the work are found out, each kind by its own reason. Reference values are SciPy's."""

from __future__ import annotations

import pytest
import scipy.stats

from stages.contract.plan import BESIDE
from tests.gate.builder import Item, Study, make_study, outcomes, placebos

OUTSIDE = {"queue_ms": 9000.0}


def study(wins: int, losses: int, ties: int) -> Study:
    return make_study([*outcomes("left", wins, losses, ties), *placebos()])


def test_dropping_the_controls_wins_by_an_instrument_rule_is_caught_as_observed() -> None:
    """18 : 10 isn't significant, 18 : 5 is; calling the excluded trials fails ties them and sees nothing."""
    assert scipy.stats.binomtest(18, 28).pvalue > 0.04 > scipy.stats.binomtest(18, 23).pvalue
    honest = study(18, 10, 72)
    assert "sign_flip_not_significant" in honest.decide()["reasons"]
    for n in range(18, 23):
        honest.stamp(f"left-{n:03}", "control", **OUTSIDE)
    d = honest.decide()
    assert d["reasons"] == ["observed_disagrees"]
    assert d["reason_details"]["observed_disagrees"].startswith("as observed: interval_crosses_zero, Δ 0.08")
    assert d["sensitivity"]["excluded_fail"]["decision"] == "publish"
    assert d["summary"]["p_sign_flip"] == pytest.approx(scipy.stats.binomtest(18, 23).pvalue, rel=1e-5)
    assert d["asymmetry"]["p"] == pytest.approx(scipy.stats.fisher_exact([[0, 100], [5, 95]])[1], rel=1e-5)


def test_dropping_the_candidates_fails_is_caught_as_observed() -> None:
    d = study(18, 10, 72)
    for n in range(18, 23):
        d.stamp(f"left-{n:03}", "candidate", **OUTSIDE)
    assert d.decide()["reasons"] == ["observed_disagrees", "excluded_as_fail_disagrees"]


def test_exclusions_that_would_be_losses_as_fails_are_caught() -> None:
    """14 : 4 is significant, 14 : 9 isn't: five ties passed by both lose the candidate's trial."""
    assert scipy.stats.binomtest(14, 18).pvalue < 0.04 < scipy.stats.binomtest(14, 23).pvalue
    s = study(14, 4, 82)
    for n in range(18, 28, 2):
        assert s.rows(f"left-{n:03}", "candidate")[0]["passed"] == 1
        s.stamp(f"left-{n:03}", "candidate", **OUTSIDE)
    d = s.decide()
    assert d["reasons"] == ["excluded_as_fail_disagrees"]
    assert d["sensitivity"]["as_observed"]["decision"] == "publish"


def test_exclusions_without_an_outcome_count_against_the_direction_that_is_claimed() -> None:
    """Five of the control's trials lost once: as observed the control passes them, and 14 : 9 isn't significant."""
    items = [*outcomes("left", 14, 4, 77), *placebos()]
    items += [Item(f"lost-{n}", "left", "F", "X") for n in range(5)]
    up = make_study(items).decide()
    assert up["reasons"] == ["observed_disagrees"]
    assert up["sensitivity"]["as_observed"]["delta"] == 0.05
    swapped = [Item(i.item_id, i.stratum, i.control, i.candidate, placebo=i.placebo) for i in items]
    down = make_study(swapped).decide()
    assert down["reasons"] == ["observed_disagrees"]
    assert down["sensitivity"]["as_observed"]["delta"] == -0.05


def test_a_publication_of_the_other_direction_is_a_disagreement() -> None:
    """14 : 4 for the candidate, but 14 : 64 with the control's sixty excluded wins: published, the other way round."""
    one = make_study([*outcomes("left", 14, 64, 82), *placebos()])
    for n in range(18, 78):
        one.stamp(f"left-{n:03}", "control", **OUTSIDE)
    d = one.decide()
    assert d["sensitivity"]["as_observed"] == {
        **d["sensitivity"]["as_observed"],
        "decision": "publish",
        "delta": -0.3125,
    }
    assert d["reasons"] == ["observed_disagrees", "exclusion_asymmetry", "too_many_exclusions"]


def test_exclusions_that_lean_on_one_arm_are_asymmetric() -> None:
    s = study(40, 4, 156)
    failed = [f"left-{n:03}" for n in range(45, 61, 2)]
    for item in failed:
        s.stamp(item, "candidate", **OUTSIDE)
    p = scipy.stats.fisher_exact([[8, 192], [0, 200]])[1]
    assert p <= 0.01
    d = s.decide()
    assert d["reasons"] == ["exclusion_asymmetry"]
    assert d["reason_details"]["exclusion_asymmetry"] == f"p {float(f'{p:.6g}')}, candidate 8, control 0"
    assert d["asymmetry"] == {"p": float(f"{p:.6g}"), "could_fire": True, "candidate": 8, "control": 0}
    for item in failed:
        s.stamp(item, "control", **OUTSIDE)
    assert s.decide()["reasons"] == []
    assert s.decide()["asymmetry"]["p"] == 1


def test_so_few_exclusions_that_they_could_never_show_asymmetry_are_said_to_be() -> None:
    s = study(20, 2, 78)
    s.stamp("left-030", "control", **OUTSIDE)
    d = s.decide()
    assert (d["decision"], d["asymmetry"]["could_fire"]) == ("publish", False)


def test_more_excluded_pairs_than_agreed_are_too_many_and_the_limit_itself_is_not() -> None:
    s = study(20, 1, 79)
    for n in range(5):
        s.stamp(f"left-{30 + n:03}", **OUTSIDE)
    assert s.decide()["decision"] == "publish", "5 of 100 is the limit"
    s.stamp("left-040", **OUTSIDE)
    d = s.decide()
    assert d["reason_details"] == {"too_many_exclusions": "6 of 100 pairs, at most 0.05"}


def test_pairs_of_items_that_are_too_thin_count_in_the_share_too() -> None:
    s = make_study([*outcomes("left", 20, 1, 4, k=3), *placebos(2, 3)])
    for repeat in (0, 1):
        s.stamp("left-024", "control", repeat, **OUTSIDE)
    d = s.decide()
    assert d["excluded_share"] == {"pairs": 3, "of": 75, "limit": "0.05"}
    assert d["exclusions"]["too_few_pairs"] == {"candidate": 1, "control": 1, "items": 1}
    assert d["asymmetry"]["control"] == 2, "only what was wrong with a trial itself leans on its arm"


def test_the_worst_cases_stand_beside_the_verdict_and_dont_decide() -> None:
    s = study(12, 2, 86)
    for n in range(20, 24):
        s.stamp(f"left-{n:03}", "control", **OUTSIDE)
    d = s.decide()
    assert d["decision"] == "publish"
    block = d["sensitivity"]
    # 20 to 23 are ties, passed and failed by turns: excluded control trials count 1 and 0 against F or P.
    assert block["worst_candidate"]["delta"] == (12 - 2 - 2) / 100
    assert block["worst_control"]["delta"] == (12 - 2 + 2) / 100
    assert block["excluded_fail"]["delta"] == (12 - 2 + 2) / 100
    assert block["as_observed"]["delta"] == (12 - 2) / 100
    assert block["worst_candidate"]["decision"] == "withhold"
    assert d["summary"]["delta"] == pytest.approx(10 / 96, rel=1e-5)


def test_late_passes_are_counted_in_a_view_of_their_own() -> None:
    items = [*outcomes("left", 20, 2, 78), *placebos()]
    items += [Item(f"late-{n}", "left", "F", "L") for n in range(4)]
    d = make_study(items).decide()
    assert d["decision"] == "publish"
    assert d["arms"]["control"]["late_passes"] == d["arms"]["control"]["timeouts"] == 4
    assert d["summary"]["delta"] == pytest.approx(18 / 104, rel=1e-5)
    assert d["sensitivity"]["timeouts_pass"]["delta"] == pytest.approx(14 / 104, rel=1e-5)


def test_each_order_within_a_block_is_shown_alone() -> None:
    """Repeat 0 runs the candidate first, repeat 1 the control; the effect is in repeat 0 only."""
    items = [Item(f"a-{n:02}", "left", "PF"[n % 5 == 0] + "F", "FF") for n in range(40)]
    by = make_study([*items, *placebos(1, 2)]).decide()["sensitivity"]["by_order"]
    assert by["candidate_first"]["delta"] == 0.8
    assert by["control_first"] == {"decision": "withhold", "reason": "no_variance", "delta": 0, "lo": None, "hi": None}


def test_passes_beside_the_tests_must_not_be_what_the_study_rests_on() -> None:
    """A tree can ask to be judged where its code reaches the tests; what it passes there is not believed alone."""
    s = study(12, 2, 86)
    wins = [row for row in s.ledger if row["arm"] == "candidate" and row["passed"]]
    for row in s.ledger:
        if row["passed"] and row["item_id"] > "left-050":
            row["verdict_reason"] = f"3 tests passed{BESIDE}"
    assert s.decide()["decision"] == "publish", "where both arms pass so, nothing leans on it"
    for row in wins[:8]:
        row["verdict_reason"] = f"3 tests passed{BESIDE}"
    d = s.decide()
    assert d["reasons"] == ["beside_as_fail_disagrees"]
    assert d["sensitivity"]["as_observed"]["decision"] == "publish"
    assert d["sensitivity"]["beside_fail"]["delta"] < d["summary"]["delta"]
