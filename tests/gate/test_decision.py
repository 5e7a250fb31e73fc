"""What a decision says: its figures by independent computation, its words, its bytes."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from stages.contract.decision import Decision
from stages.contract.design import check_design
from stages.contract.digest import canonical, pretty
from stages.contract.errors import InputError
from stages.contract.protocol import Protocol
from stages.contract.types import validate
from stages.gate import Evidence, decide_study, metrics
from tests.gate.builder import Item, Study, clear_effect, make_study, outcomes, placebos
from tests.stats.stats_reference import bootstrap_pmf, limits, reference_tail

HALF = {"left": Fraction(1, 2), "right": Fraction(1, 2)}


def raw(*strata: tuple[str, int, int, int]) -> dict[str, list[tuple[Fraction, str]]]:
    """Differences of items that are won, lost and tied, each a cluster of its own."""
    return {
        name: [(Fraction(d), f"{name}{n}") for n, d in enumerate([1] * won + [-1] * lost + [0] * tied)]
        for name, won, lost, tied in strata
    }


def six(x: Fraction | float) -> float:
    return float(f"{float(x):.6g}")


def test_the_interval_and_its_tail_are_those_of_the_enumerated_bootstrap() -> None:
    d = make_study([*outcomes("left", 9, 2, 4), *outcomes("right", 8, 1, 3), *placebos()]).decide()
    reference = raw(("left", 9, 2, 4), ("right", 8, 1, 3))
    level = reference_tail(reference, HALF, Fraction(1, 25))
    lo, hi = limits(bootstrap_pmf(reference, HALF), level)
    s = d["summary"]
    assert (s["tail_level"], s["lo"], s["hi"]) == (level, six(lo), six(hi))
    assert s["delta"] == six(Fraction(1, 2) * Fraction(7, 15) + Fraction(1, 2) * Fraction(7, 12))
    left, one = raw(("left", 9, 2, 4)), {"left": Fraction(1)}
    alone = limits(bootstrap_pmf(left, one), reference_tail(left, one, Fraction(1, 25)))
    assert (d["strata"]["left"]["lo"], d["strata"]["left"]["hi"]) == (six(alone[0]), six(alone[1]))
    assert s["kind"] == "exact"
    won = {"wins": 17, "losses": 3, "ties": 7}
    assert d["win_rate"] == {**won, "rate": six(17 / 27), "pair_wins": won}
    left_won = {"wins": 9, "losses": 2, "ties": 4}
    assert d["strata"]["left"] == {**d["strata"]["left"], **left_won, "pair_wins": left_won}
    assert (s["alpha"], s["alpha_spent"]) == (0.05, 0.04)


def test_the_headline_holds_all_that_the_number_depends_on() -> None:
    items = [*clear_effect(3)[:30], Item("late", "left", "LFF", "TFF"), *placebos(2, 3)]
    study = make_study(items)
    study.stamp("right-014", "control", 1, queue_ms=4001.0)
    study.register("self_dated")
    d = study.decide()
    s = d["summary"]
    assert (d["strata"]["left"]["delta"], d["strata"]["right"]["delta"]) == (0.5625, 0.6)
    assert d["headline"] == (
        f"slice {d['slice_id'][:16]} of pack 7: new 2.0 against old 1.0, "
        f"Δ +0.581 [{s['lo']:+.3f}, {s['hi']:+.3f}] (left +0.562, right +0.600); "
        "timeouts 1 against 1; 2 of 186 trials excluded; placebos failed 12/12; registration self_dated"
    )


def test_a_design_that_couldnt_see_its_own_minimum_and_departures_stand_on_the_headline() -> None:
    d = make_study(clear_effect(), {"min_detectable_effect": "0.03", "tools": {"mcp": ["a"]}}).decide()
    assert d["headline"].endswith(
        "; registration none; could not reliably detect its own minimum; departs from the default protocol in "
        'min_detectable_effect 0.03, tools {"commands": "any", "mcp": ["a"], "network": "none"}, trial_budget 1'
    )
    enough = make_study(clear_effect(), {"claim": "noninferiority", "margin": "0.04"}, mde80=0.04).decide()
    assert enough["summary"]["mde80_planned_exceeds_minimum"] is False, "the margin is what must be detected"
    assert make_study(clear_effect(), mde80=None).decide()["summary"]["mde80_planned_exceeds_minimum"] is True


def test_a_hostile_version_cant_break_the_headline() -> None:
    def edit(params: dict[str, Any]) -> None:
        params["arms"]["candidate"]["version"] = "2|0"

    d = make_study(clear_effect(), edit=edit).decide()
    assert d["headline"].isprintable()


Change = Callable[[pd.DataFrame], pd.DataFrame]


def _objects(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(object).where(frame.notna(), None)


def _nans(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(object).where(frame.notna(), np.nan)


def _shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    order = list(range(len(frame)))
    random.Random(5).shuffle(order)
    return frame.iloc[order]


def _nullable(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.convert_dtypes()


def _arrow(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.convert_dtypes(dtype_backend="pyarrow")


def busy() -> Study:
    """A study with something of everything: exclusions, late passes, losses, an event, clusters, a refused item."""
    items = [
        *(Item(f"l{n:02}", "left", "PPF"[n % 3 :] + "PPF"[: n % 3], "FFPF"[n % 2 : n % 2 + 3]) for n in range(24)),
        *(Item(f"r{n:02}", "right", "PPP", "FLA"[n % 3] * 3, cluster=f"c{n // 2}") for n in range(12)),
        Item("r90", "right", "PXF", "FFP"),
        Item("r91", "right", "TYB", "FFP"),
        Item("z1", "left", "PPP", "PPP"),
        Item("z2", "left", "PPP", "PPP"),
        *placebos(2, 3),
    ]
    study = make_study(items)
    study.stamp("l03", "control", 1, server_id="else")
    study.stamp("l04", "candidate", queue_ms=99999.0)
    study.refuse("z1", "leaked_solution")
    study.event("oracle_flaky", "z2", before=True)
    study.event("candidate_failed", "l07")
    study.event("candidate_failed", "l06")
    for item in ("l09", "l02", "r01"):
        study.rows(item, "control", 2)[0]["runner_changed"] = f"says {item}"
        study.rows(item, "control", 0)[0]["slice_id"] = "f" * 64
    for n in (1, 0):
        study.rows(f"placebo-{n}", "control", 2)[0].update(verdict="pass", status="passed", passed=1)
    study.rows("r05", "candidate", 2)[0]["interface_drift"] = 2
    return study


@pytest.mark.parametrize("change", [_shuffled, _objects, _nans, _nullable, _arrow], ids=lambda f: f.__name__)
def test_row_order_and_pandas_types_dont_change_a_byte(change: Change) -> None:
    ev = busy().evidence()
    before = pretty(decide_study(ev))
    tables = {name: change(getattr(ev, name)) for name in ("ledger", "pairs", "exclusions")}
    assert (
        pretty(
            decide_study(
                Evidence(plan=ev.plan, manifest=ev.manifest, admitted=ev.admitted, campaign=ev.campaign, **tables)
            )
        )
        == before
    )


@pytest.mark.parametrize(
    "make",
    [
        busy,
        lambda: make_study(clear_effect()),
        lambda: make_study(outcomes("left", 1, 0, 1)),
        lambda: make_study(clear_effect(), mode="tutorial"),
    ],
)
def test_a_decision_is_what_its_model_says_and_canonical(make: Callable[[], Study]) -> None:
    d = make().decide()
    assert validate(Decision, d, "decision").model_dump(by_alias=True, exclude_unset=True) == d
    assert json.loads(canonical(d)) == json.loads(json.dumps(d))


def test_a_study_without_any_kept_item_or_trial_still_gets_a_decision() -> None:
    study = make_study(clear_effect())
    study.ledger.clear()
    d = study.decide()
    assert d["counts"] | {"planned": 60, "missing": 60, "scored": 0, "pairs_kept": 0} == d["counts"]
    assert d["summary"]["delta"] is None
    assert d["win_rate"]["rate"] is None
    assert d["arms"]["candidate"]["oracle_pass_rate"] is None
    validate(Decision, d, "decision")


@pytest.mark.parametrize("mode", ["exploratory", "tutorial"])
def test_a_study_that_is_no_benchmark_has_outcomes_and_no_figures(mode: str) -> None:
    study = make_study(clear_effect(), mode=mode)
    d = study.decide()
    assert (d["decision"], d["reason"], d["reasons"]) == ("withhold", "not_a_benchmark", ["not_a_benchmark"])
    assert d["reason_details"] == {"not_a_benchmark": f"study.mode is {mode}"}
    parts = (
        "summary",
        "strata",
        "arms",
        "win_rate",
        "sensitivity",
        "asymmetry",
        "excluded_share",
        "placebo_bound",
        "headline",
    )
    assert [d[part] for part in parts] == [None] * 9
    assert d["would_publish"] is False
    study.rows("placebo-0", "control")[0].update(verdict="pass", status="passed", passed=1)
    assert study.decide()["reasons"] == ["not_a_benchmark", "placebo_passed"], "what is wrong with the batch is said"


def test_the_session_stamp_articles_fixture_gives_its_published_result() -> None:
    """Four rows outside the envelope, six kept, a floor of eight: too_few_clean_tasks."""
    fixture = [
        ("t1", "repair", 1, 1, 800, 0, "ok", "srv-lab-a", False),
        ("t2", "repair", 0, 1, 900, 0, "ok", "srv-lab-a", False),
        ("t3", "repair", 1, 1, 1200, 0, "ok", "srv-lab-a", False),
        ("t4", "migration", 0, 0, 1500, 1, "ok", "srv-lab-a", False),
        ("t5", "migration", 0, 1, 9000, 0, "ok", "srv-lab-a", False),
        ("t6", "migration", 1, 1, 700, 0, "exhausted", "srv-lab-a", False),
        ("t7", "explain", 1, 1, 600, 0, "ok", "srv-lab-a", False),
        ("t8", "explain", 0, 1, 650, 0, "ok", "srv-other", False),
        ("t9", "explain", 1, 0, 700, 0, "ok", "srv-lab-a", True),
        ("t10", "repair", 0, 1, 500, 0, "within_budget", "srv-lab-a", False),
    ]
    envelope = {
        "servers": ["srv-lab-a"],
        "quota_states": ["ok", "within_budget"],
        "max_queue_ms": 4000,
        "max_retries": 1,
    }
    items = [Item(t, stratum, "FP"[c], "FP"[b]) for t, stratum, b, c, *_ in fixture]
    study = make_study([*items, *placebos(2, 1, "repair")], {"envelope": envelope, "min_kept_items": 8})
    study.stamp("", server_id="srv-lab-a", quota_state="ok")
    for task, _, _, _, queue, retries, quota, server, changed in fixture:
        study.stamp(
            task, queue_ms=float(queue), retries=retries, quota_state=quota, server_id=server, route_changed=changed
        )
    d = study.decide()
    assert d["dropped"] == ["t5", "t6", "t8", "t9"]
    assert (d["counts"]["items_seen"], d["counts"]["items_kept"]) == (10, 6)
    assert "too_few_clean_tasks" in d["reasons"]
    assert d["headline"] is None
    assert d["reason_details"]["too_few_clean_tasks"] == "6 items kept in the summary, at least 8"
    rules = {r["item_id"]: r["rule"] for r in study.tables()[1]}
    assert rules == {"t5": "queue_delay", "t6": "quota_state", "t8": "foreign_server", "t9": "route_change"}
    series = {name: [(r["item_id"], r["gains"]) for r in row["series"]] for name, row in d["strata"].items()}
    assert series == {
        "explain": [("t7", 0)],
        "migration": [("t4", 0)],
        "repair": [("t1", 0), ("t10", 1), ("t2", 1), ("t3", 0)],
    }


def test_the_trial_budget_articles_sample_gives_its_published_counts() -> None:
    items = [Item("short-01", "short_edit", "PF", "FF"), Item("placebo-oracle", "short_edit", "FF", "FF", placebo=True)]
    study = make_study(items)
    d = study.decide()
    assert d["win_rate"] == {
        "wins": 1,
        "losses": 0,
        "ties": 0,
        "rate": 1,
        "pair_wins": {"wins": 1, "losses": 0, "ties": 1},
    }
    assert d["strata"]["short_edit"]["pair_wins"] == {"wins": 1, "losses": 0, "ties": 1}
    assert "placebo_passed" not in d["reasons"]


@pytest.mark.parametrize("arm", ["candidate", "control"])
def test_a_placebo_that_passes_in_either_arm_aborts_the_batch(arm: str) -> None:
    letters = {"candidate": "FF", "control": "FF", arm: "FP"}
    items = [*clear_effect(2)[:30], Item("placebo-oracle", "left", **letters, placebo=True)]
    d = make_study(items).decide()
    assert d["reason_details"] == {"placebo_passed": f"1 of 4 placebo trials: placebo-oracle ({arm}, repeat 1)"}
    assert d["headline"] is None


def test_noninferiority_is_one_claim_against_the_margin() -> None:
    """Δ = 0 of 480 items: not better, but not worse by .1; the guard tests the same margin."""
    items = [*outcomes("left", 40, 40, 160), *outcomes("right", 40, 40, 160), *placebos()]
    protocol = {"claim": "noninferiority", "margin": "0.1"}
    d = make_study(items, protocol).decide()
    assert (d["decision"], d["summary"]["delta"]) == ("publish", 0)
    assert d["summary"]["lo"] > -0.1
    assert "claimed is only that it isn't worse by 0.1 or more" in d["headline"]
    assert make_study(items).decide()["reasons"] == [
        "below_minimum_detectable_effect",
        "interval_crosses_zero",
        "sign_flip_not_significant",
    ]
    worse = [*outcomes("left", 40, 58, 142), *outcomes("right", 40, 58, 142), *placebos()]
    assert make_study(worse, protocol).decide()["reasons"] == ["interval_crosses_zero", "sign_flip_not_significant"]
    far = [*outcomes("left", 10, 80, 10), *outcomes("right", 10, 80, 10), *placebos()]
    assert make_study(far, protocol).decide()["reasons"] == ["interval_crosses_zero", "strata_disagree"]


def test_noninferiority_is_claimed_for_the_candidate_whatever_the_sign_of_the_difference() -> None:
    """Without an outcome a candidate's trial counts as failed, though Δ is negative; another sign is no disagreement."""
    items = [*outcomes("left", 40, 42, 417), Item("z", "left", "X", "F"), *placebos()]
    d = make_study(items, {"claim": "noninferiority", "margin": "0.1"}).decide()
    assert d["summary"]["delta"] < 0
    assert d["sensitivity"]["as_observed"]["delta"] == six(Fraction(-2, 500)), "the lost trial ties the control's fail"
    assert d["decision"] == "publish"
    swing = [*outcomes("left", 40, 41, 416), *placebos(), *(Item(f"z{n}", "left", "P", "F") for n in range(3))]
    study = make_study(swing, {"claim": "noninferiority", "margin": "0.1"})
    for n in range(3):
        study.stamp(f"z{n}", "control", route_changed=True)
    d = study.decide()
    assert d["summary"]["delta"] < 0 < d["sensitivity"]["as_observed"]["delta"]
    assert d["decision"] == "publish"


def test_a_limit_so_close_to_zero_that_its_bracket_holds_it_is_undecided() -> None:
    """A weight of nine digits has a lattice too fine to be computed whole; this one puts the lower limit at zero."""
    weights = {"left": Fraction(555541989, 10**9), "right": Fraction(444458011, 10**9)}
    protocol = {"strata_weights": {k: str(w) for k, w in weights.items()}, "min_detectable_effect": "0.3"}
    d = make_study([*outcomes("left", 10, 1, 4), *outcomes("right", 1, 3, 8), *placebos()], protocol).decide()
    assert d["reasons"] == ["below_minimum_detectable_effect", "bracket_undecided", "sign_flip_not_significant"]
    s = d["summary"]
    assert s["kind"] == "bracket"
    assert s["lo"] <= 0 < s["lo"] + s["bracket_width"]
    reference = raw(("left", 10, 1, 4), ("right", 1, 3, 8))
    lo, hi = limits(bootstrap_pmf(reference, weights), reference_tail(reference, weights, Fraction(1, 25)))
    assert s["lo"] <= lo <= s["lo"] + s["bracket_width"]
    assert s["hi"] - s["bracket_width"] <= hi <= s["hi"]


@pytest.mark.parametrize(
    ("look", "family", "alpha", "spent"),
    [
        (1, 1, "0.05", 0.04),
        (2, 1, "0.05", 0.005),
        (3, 1, "0.05", six(Fraction(1, 600))),
        (1, 4, "0.05", 0.01),
        (2, 2, "0.02", 0.001),
    ],
)
def test_looks_and_family_spend_alpha(look: int, family: int, alpha: str, spent: float) -> None:
    """.8 of alpha for the first look, then .2 alpha / (l (l - 1)); divided by the family."""
    study = make_study(clear_effect(), {"family": family, "alpha": alpha})
    study.campaign["look"] = look
    d = study.decide()
    assert d["summary"]["alpha_spent"] == spent
    assert d["looks"]["look"] == look


def test_a_later_look_can_withhold_what_a_first_would_publish() -> None:
    items = [*outcomes("left", 14, 4, 6), *placebos()]
    assert 0.005 < scipy.stats.binomtest(14, 18).pvalue < 0.04
    study = make_study(items)
    assert study.decide()["decision"] == "publish"
    study.campaign["look"] = 2
    assert "sign_flip_not_significant" in study.decide()["reasons"]


def test_weights_are_exact_and_those_of_the_frozen_pack() -> None:
    items = [*outcomes("left", 20, 1, 4), *outcomes("right", 8, 0, 2), *placebos()]
    left, right = Fraction(19, 25), Fraction(8, 10)
    third = {"left": "1/3", "right": "2/3"}
    for given, expected in (
        ("equal", (left + right) / 2),
        ("proportional", left * Fraction(25, 35) + right * Fraction(10, 35)),
        (third, left / 3 + right * Fraction(2, 3)),
    ):
        d = make_study(items, {"strata_weights": given}).decide()
        assert d["summary"]["delta"] == six(expected)
        assert d["summary"]["delta_equal"] == six((left + right) / 2)
        assert d["summary"]["delta_proportional"] == six(left * Fraction(25, 35) + right * Fraction(10, 35))
    study = make_study(items, {"strata_weights": "proportional"})
    for n in range(20, 25):
        study.refuse(f"left-{n:03}", "oracle_broken")
    assert study.decide()["summary"]["delta"] == six(1 * Fraction(25, 35) + right * Fraction(10, 35))


def test_merged_labels_are_one_stratum_of_the_summary_and_stay_visible() -> None:
    items = [*outcomes("left", 10, 1, 4), *outcomes("mid", 3, 0, 1), *outcomes("right", 8, 1, 3), *placebos()]
    d = make_study(items, {"merges": {"mid": "right"}}).decide()
    assert d["summary"]["delta"] == six((Fraction(9, 15) + Fraction(10, 16)) / 2)
    assert (d["strata"]["mid"]["merged_into"], d["strata"]["mid"]["case_series"]) == ("right", True)
    assert d["strata"]["right"]["delta"] == six(Fraction(7, 12)), "a label's own figure"
    assert d["decision"] == "publish"


def test_a_merged_label_that_moves_the_other_way_still_disagrees() -> None:
    items = [*outcomes("left", 14, 0, 1), *outcomes("mid", 0, 5, 0), *outcomes("right", 20, 0, 1), *placebos()]
    d = make_study(items, {"merges": {"mid": "right"}}).decide()
    assert d["reasons"] == ["strata_disagree"]
    assert "mid -1.0000" in d["reason_details"]["strata_disagree"]


def test_a_declared_case_series_is_shown_by_item_and_stays_out_of_the_summary() -> None:
    items = [*outcomes("left", 16, 1, 8), *outcomes("odd", 1, 2, 0), *placebos()]
    d = make_study(items, {"case_series": ["odd"]}).decide()
    assert (d["decision"], d["summary"]["delta"], d["summary"]["items"]) == ("publish", 0.6, 25)
    odd = d["strata"]["odd"]
    assert (odd["case_series"], odd["delta"], odd["lo"], odd["hi"]) == (True, None, None, None)
    assert odd["series"] == [{"item_id": f"odd-00{n}", "gains": g, "pairs": 1} for n, g in enumerate((1, -1, -1))]
    assert "odd case series" in d["headline"]


def test_a_stratum_that_falls_below_the_floor_is_shown_as_a_case_series_and_withholds() -> None:
    study = make_study([*outcomes("left", 20, 1, 4), *outcomes("right", 5, 0, 0), *placebos()])
    study.refuse("right-004", "oracle_flaky")
    d = study.decide()
    assert d["reason_details"] == {"stratum_too_small": "left 25, right 4; at least 5 each"}
    assert d["strata"]["right"]["case_series"]
    assert d["strata"]["right"]["delta"] is None


def test_clusters_are_the_unit_that_is_resampled_and_flipped() -> None:
    """25 items that all win, in 5 clusters, and 4 ties: 2 / 2^5 = .0625 isn't significant; alone they would be."""
    wins = [Item(f"w{n:02}", "left", "P", "F", cluster=f"c{n // 5}") for n in range(25)]
    ties = [Item(f"x{n:02}", "left", "F", "F") for n in range(4)]
    d = make_study([*wins, *ties, *placebos()]).decide()
    assert d["reasons"] == ["sign_flip_not_significant"]
    assert d["summary"]["p_sign_flip"] == 2 / 2**5
    raw_ = {"left": [(Fraction(1), f"c{n // 5}") for n in range(25)] + [(Fraction(0), f"x{n}") for n in range(4)]}
    one = {"left": Fraction(1)}
    level = reference_tail(raw_, one, Fraction(1, 25))
    lo, hi = limits(bootstrap_pmf(raw_, one), level)
    assert (d["summary"]["lo"], d["summary"]["hi"]) == (six(lo), six(hi))
    alone = [Item(i.item_id, "left", i.candidate, i.control) for i in (*wins, *ties)]
    assert make_study([*alone, *placebos()]).decide()["decision"] == "publish"


def test_a_p_below_what_is_resolved_is_given_as_its_limit() -> None:
    d = make_study([*outcomes("left", 200, 0, 10), *placebos()]).decide()
    assert d["summary"]["p_sign_flip"] == 1e-12


def test_secondary_figures_are_counted_over_kept_trials_with_their_counts_beside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items = [Item("a", "left", "PPF", "FTA"), Item("b", "left", "PPP", "BLF"), *placebos(1, 3)]
    assert make_study(items).decide()["arms"]["candidate"]["assumption_per_kloc"] is None, "two items are a case series"
    monkeypatch.setattr(metrics, "FEW_ITEMS", 2)
    study = make_study(items)
    study.rows("a", "candidate", 0)[0].update(violations=3, invented_imports=2, invented_env=1, interface_drift=0)
    study.rows("a", "candidate", 1)[0].update(interface_drift=2, inside_contract="fail")
    one, two = study.decide()["arms"].values()
    assert (one["passes"], one["trials"], one["oracle_pass_rate"]) == (5, 6, six(5 / 6))
    assert (one["inside_contract_passes"], one["inside_contract_rate"]) == (4, six(4 / 6))
    assert (one["violations"], one["generated_lines"], one["assumption_per_kloc"]) == (3, 60, 50)
    assert (one["interface_drift"], one["interface_drift_rate"]) == (1, 0.5)
    assert (one["flips"], one["flip_rate"], one["identical_patches"]) == (1, 0.5, 1)
    assert (two["timeouts"], two["timeout_rate"], two["late_passes"]) == (2, six(2 / 6), 1)
    assert (two["aborts"], two["broken"], two["oracle_pass_rate"]) == (1, 1, 0)
    assert (one["wall_s_median"], one["temperature"], one["temperature_sent"]) == (2, ["0"], None)
    assert [one[f"{name}_median"] for name in ("cpu_s", "max_rss_kb", "load_1m")] == [0.5, 20_000, 0.25]
    assert one["budget_share_median"] == six(2 / study.plan.items[0].time_budget_s)


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ({"merges": {"odd": "nowhere"}}, "stratum 'nowhere'"),
        ({"case_series": ["left"]}, "'left' has 15 items"),
        ({"case_series": ["odd"], "merges": {"odd": "left"}}, "'odd' is merged too"),
        ({"strata_weights": {"left": 1}}, "weights for left"),
        ({"strata_weights": {"left": 1, "odd": 0}}, "'odd' weighs 0"),
        ({"strata_weights": {"left": 0, "odd": 1}}, "'left' weighs 0"),
    ],
)
def test_a_protocol_that_hides_a_stratum_is_refused_at_freeze(protocol: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_design(validate(Protocol, protocol, "p"), {"left": 15, "odd": 3}, "params.yaml")


def test_resampling_repeats_as_well_widens_the_interval_as_sampling_says() -> None:
    """Against a Monte Carlo of the two stages; with one repeat there is nothing more to resample."""
    patterns = [("PPP", "FFF"), ("PPF", "FFF"), ("PFF", "FPF"), ("FFF", "PFF"), ("PPP", "FPF"), ("FPP", "PFF")]
    items = [Item(f"i{n:02}", "left", *patterns[n % 6]) for n in range(24)]
    study = make_study([*items, *placebos(1, 3)])
    d = study.decide()
    shown, s = d["sensitivity"]["hierarchical"], d["summary"]
    pairs = np.array([[(c == "P") - (o == "P") for c, o in zip(i.candidate, i.control, strict=True)] for i in items])
    rng = np.random.default_rng(1)
    chosen = pairs[rng.integers(0, 24, (40_000, 24))]
    means = np.take_along_axis(chosen, rng.integers(0, 3, chosen.shape), axis=2).mean(axis=(1, 2))
    lo, hi = np.quantile(means, [s["tail_level"], 1 - s["tail_level"]])
    assert (shown["lo"], shown["hi"]) == (pytest.approx(lo, abs=0.015), pytest.approx(hi, abs=0.015))
    assert shown["lo"] < s["lo"] < s["hi"] < shown["hi"]
    single = make_study(clear_effect()).decide()
    assert (single["sensitivity"]["hierarchical"]["lo"], single["sensitivity"]["hierarchical"]["hi"]) == (
        single["summary"]["lo"],
        single["summary"]["hi"],
    )


def test_clusters_are_drawn_whole_and_their_items_repeats_once_more() -> None:
    """Against a Monte Carlo of all three stages: clusters of 1, 2 and 3 items, totals over the fixed number of items."""
    patterns = [("PPP", "FFF"), ("PPF", "FFF"), ("PFF", "FPF"), ("FFF", "PFF"), ("PPP", "FPF"), ("FPP", "PFF")]
    names = [f"c{n}" for n in range(12) for _ in range(n % 3 + 1)]
    items = [Item(f"i{n:02}", "left", *patterns[n % 6], cluster=name) for n, name in enumerate(names)]
    d = make_study([*items, *placebos(1, 3)]).decide()
    shown, s = d["sensitivity"]["hierarchical"], d["summary"]
    pairs = np.array([[(c == "P") - (o == "P") for c, o in zip(i.candidate, i.control, strict=True)] for i in items])
    rng = np.random.default_rng(2)
    members = [np.flatnonzero([name == f"c{n}" for name in names]) for n in range(12)]
    sums = np.zeros(20_000)
    for _ in range(12):
        for drawn, chosen in enumerate(rng.integers(0, 12, sums.size)):
            mine = pairs[members[chosen]]
            sums[drawn] += np.take_along_axis(mine, rng.integers(0, 3, mine.shape), axis=1).mean(axis=1).sum()
    lo, hi = np.quantile(sums / len(items), [s["tail_level"], 1 - s["tail_level"]])
    assert (shown["lo"], shown["hi"]) == (pytest.approx(lo, abs=0.02), pytest.approx(hi, abs=0.02))
    assert shown["lo"] < s["lo"] < s["hi"] < shown["hi"]


def test_many_and_uneven_repeats_never_break_a_decision() -> None:
    study = make_study([*outcomes("left", 12, 1, 8, 40), *placebos(1, 40)])
    assert study.decide()["sensitivity"]["hierarchical"]["decision"] == "publish"
    for n in range(12):
        for repeat in range(n):
            study.stamp(f"left-{n:03}", "control", repeat, route_changed=True)
    d = study.decide()
    assert d["sensitivity"]["hierarchical"] is None
    assert d["reasons"] == ["exclusion_asymmetry", "too_many_exclusions"]
    validate(Decision, d, "decision")


@pytest.mark.heavy
def test_time_grows_with_the_number_of_trials_and_not_faster() -> None:
    """2,000 items, twenty thousand trials: quadratic work anywhere would take minutes."""
    ev = make_study([*outcomes("left", 900, 400, 700, 5), *placebos(4, 5)]).evidence()
    started = time.perf_counter()
    assert decide_study(ev)["decision"] == "publish"
    assert time.perf_counter() - started < 60
