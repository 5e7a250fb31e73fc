"""`decide(pairs, protocol)` for notebooks: the same numbers as a study's decision, and no traceback on bad pairs."""

from __future__ import annotations

import doctest
import importlib
import random
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from stages.contract.errors import InputError
from stages.gate import Verdict, decide
from stages.gate.evidence import tidy
from stages.stats import sig6
from tests.gate.builder import Item, Study, clear_effect, make_study, outcomes, placebos

OUTSIDE = {"queue_ms": 9000.0}


def pairs_of(study: Study) -> pd.DataFrame:
    return tidy(study.evidence()).pairs


def excluded(study: Study) -> Study:
    for n in range(3):
        study.stamp(f"left-{n:03}", "control", **OUTSIDE)
    return study


def mixed(seed: int) -> list[Item]:
    rng = random.Random(seed)
    letters = ["".join(rng.choice("PPFTLB") for _ in range(6)) for _ in range(60)]
    items = [Item(f"{'ab'[n % 2]}-{n:02}", "ab"[n % 2], x[:3], x[3:], f"c{n // 4}") for n, x in enumerate(letters)]
    return [*items, *placebos(2, 3)]


STUDIES = {
    "clear": lambda: make_study(clear_effect()),
    "nothing": lambda: make_study([*outcomes("left", 10, 10, 30), *placebos()]),
    "exclusions": lambda: excluded(make_study([*outcomes("left", 18, 8, 80), *placebos()])),
    "clusters and late passes": lambda: make_study(mixed(1)),
    "proportional, noninferior": lambda: make_study(
        mixed(2), {"strata_weights": "proportional", "claim": "noninferiority", "margin": "0.1"}
    ),
    "lost": lambda: make_study([*outcomes("left", 14, 4, 77), *placebos(), Item("l", "left", "F", "X")]),
    "below the floor": lambda: make_study(clear_effect(), {"alpha": "0.06", "min_kept_items": 10}),
}


@pytest.mark.parametrize("name", STUDIES)
def test_the_numbers_are_those_of_the_studys_decision(name: str) -> None:
    study = STUDIES[name]()
    whole, seen = study.decide(), decide(pairs_of(study), study.manifest.protocol)
    assert list(seen.reasons) == whole["reasons"]
    assert (seen.decision, seen.reason) == (whole["decision"], whole["reason"])
    s = whole["summary"]
    found = [None if x is None else sig6(x) for x in (seen.delta, seen.lo, seen.hi, seen.bracket_width)]
    assert found == [s["delta"], s["lo"], s["hi"], s["bracket_width"]]
    assert sig6(seen.alpha_spent) == s["alpha_spent"]
    assert seen.sensitivity() == whole["sensitivity"]
    assert seen.published == (whole["decision"] == "publish")


def test_neither_the_order_of_rows_nor_their_types_matter() -> None:
    study = STUDIES["clusters and late passes"]()
    pairs = pairs_of(study)
    shuffled = pairs.sample(frac=1, random_state=3).astype({"candidate": "float64", "control": "object"})
    bare = pairs[["item_id", "stratum", "cluster", "repeat", "candidate", "control"]].astype({"candidate": bool})
    one = decide(pairs, study.manifest.protocol)
    for other in (shuffled, bare, pairs.set_index("repeat", drop=False), pairs.astype({"item_id": "string"})):
        two = decide(other, study.manifest.protocol)
        assert (one.delta, one.lo, one.hi, one.reasons) == (two.delta, two.lo, two.hi, two.reasons)


def test_pairs_are_left_as_they_were() -> None:
    pairs = pairs_of(STUDIES["exclusions"]())
    before = pairs.copy()
    decide(pairs)
    pd.testing.assert_frame_equal(pairs, before)


def frame(**changes: Any) -> pd.DataFrame:
    rows = {"item_id": ["a", "a", "b", "b"], "stratum": ["s"] * 4, "candidate": [1, 0, 1, 1], "control": [0, 0, 1, 0]}
    made = {**rows, **changes}
    return pd.DataFrame({key: value for key, value in made.items() if value is not None})


@pytest.mark.parametrize(
    ("pairs", "protocol", "words"),
    [
        (frame(control=None), {}, "pairs: no column control"),
        (frame().iloc[:0], {}, "pairs: no row"),
        (frame(candidate=[1, 0, 2, 1]), {}, "pairs: candidate: 2.* in row 2"),
        (frame(candidate=["1", "0", "1", "1"]), {}, "pairs: candidate: '1' in row 0"),
        (frame(candidate=[0.5, 0, 1, 1]), {}, "pairs: candidate: 0.5 in row 0"),
        (frame(candidate=[float("inf"), 0, 1, 1]), {}, "pairs: candidate: inf in row 0"),
        (frame(item_id=["a", None, "b", "b"]), {}, "pairs: item_id"),
        (frame(item_id=[1, 1, 2, 2]), {}, "pairs: item_id"),
        (frame(stratum=["s", "t", "s", "s"]), {}, "pairs: a: two strata"),
        (frame(repeat=[0, 0, 0, 1]), {}, "pairs: a: repeat 0 twice"),
        (frame(control_rule=["queue", None, None, None]), {}, "pairs: control_rule: 'queue'"),
        (frame(), {"alpha": 2}, "protocol: alpha"),
        (frame(), {"alhpa": "0.05"}, "alpha"),
        (frame(), {"strata_weights": {"t": 1}}, "protocol.strata_weights"),
        (frame(), {"claim": "noninferiority"}, "margin"),
    ],
)
def test_bad_pairs_are_refused_in_a_line(pairs: pd.DataFrame, protocol: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        decide(pairs, protocol)


def test_strata_that_arent_frozen_and_looks_that_cant_be_are_refused() -> None:
    with pytest.raises(InputError, match="stratum 's': isn't frozen"):
        decide(frame(), strata={"t": 5})
    with pytest.raises(InputError, match="look: 0; expected a whole number"):
        decide(frame(), look=0)


def test_a_frozen_stratum_with_no_pair_left_has_no_summary() -> None:
    seen = decide(frame(), strata={"s": 2, "gone": 9})
    assert (seen.delta, seen.lo) == (None, None)
    assert "stratum_too_small" in seen.reasons


def test_a_later_look_and_a_family_spend_less() -> None:
    pairs = pairs_of(make_study(clear_effect()))
    assert decide(pairs).alpha_spent == Fraction(1, 25)
    assert decide(pairs, {"family": 2}, look=2).alpha_spent == Fraction(1, 400)


def test_a_trial_without_outcome_or_rule_is_missing_and_withholds() -> None:
    pairs = pairs_of(make_study(clear_effect()))[["item_id", "stratum", "candidate", "control"]]
    pairs.loc[3, "candidate"] = pd.NA
    seen = decide(pairs)
    assert seen.reason == "trials_missing"
    assert "trials_missing" not in decide(pairs_of(make_study(clear_effect()))).reasons


def test_half_of_an_items_own_pairs_must_be_kept() -> None:
    """Items may have different numbers of repeats; one that keeps 1 of 4 goes, by a rule of its own."""
    rows = [{"item_id": f"i{n}", "stratum": "s", "candidate": 1, "control": n % 3 // 2} for n in range(30)]
    thick = [{"item_id": "thick", "stratum": "s", "candidate": 0, "control": 1} for _ in range(4)]
    rules = [None] * 30 + ["queue_delay"] * 3 + [None]
    seen = decide(pd.DataFrame([*rows, *thick]).assign(control_rule=rules))
    assert seen.items == {"s": 30}
    assert seen.weighed.exclusions["excluded_share"] == {"pairs": 4, "of": 34, "limit": "0.05"}


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_drawn_there_is_a_verdict_without_a_warning(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items, strata = int(rng.integers(1, 40)), int(rng.integers(1, 5))
    repeats = rng.integers(1, 9, items)
    made = pd.DataFrame(
        {
            "item_id": np.repeat([f"i{n}" for n in range(items)], repeats),
            "stratum": np.repeat([f"s{n % strata}" for n in range(items)], repeats),
        }
    )
    for arm in ("candidate", "control"):
        made[arm] = rng.choice([0, 1, None], len(made), p=[0.45, 0.45, 0.1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = decide(made)
        block = seen.sensitivity()
    assert isinstance(seen, Verdict)
    assert seen.published == (seen.decision == "publish")
    assert seen.lo is None or seen.delta is None or seen.hi is None or seen.lo <= seen.delta <= seen.hi
    assert set(block["guards"].values()) <= {"holds", "fails", "alone"}


def test_the_example_in_the_docstring_is_true() -> None:
    found = doctest.testmod(importlib.import_module("stages.gate.verdict"))
    assert found.attempted >= 6
    assert found.failed == 0


def crossing(clusters: int = 12) -> pd.DataFrame:
    """120 items in two strata; each cluster lies in both and has an effect of its own."""
    rng = np.random.default_rng(5)
    lift = rng.choice([-0.3, 0.3], clusters)
    rows = []
    for n in range(120):
        cluster = n // 2 % clusters
        for r in range(3):
            control = rng.random() < 0.5
            candidate = rng.random() < 0.55 + lift[cluster]
            rows.append((f"i{n:03}", "ab"[n % 2], f"c{cluster}", r, int(candidate), int(control)))
    return pd.DataFrame(rows, columns=["item_id", "stratum", "cluster", "repeat", "candidate", "control"])


def test_clusters_that_cross_strata_are_drawn_whole_and_not_once_in_each() -> None:
    """As one stratum, whose clusters are the same; named apart in each stratum they would look like twice as many."""
    pairs = crossing()
    crossed = decide(pairs)
    apart = decide(pairs.assign(cluster=pairs["cluster"] + pairs["stratum"]))
    one = decide(pairs.assign(stratum="all"))
    assert (crossed.delta, crossed.lo, crossed.hi) == (one.delta, one.lo, one.hi)
    assert crossed.p_sign_flip == one.p_sign_flip
    assert crossed.lo is not None
    assert apart.lo is not None
    assert crossed.lo < apart.lo
    assert "several strata" in crossed.sensitivity()["hierarchical_why"]
    assert len({s.name for s in crossed.weighed.base.design.strata}) == 1  # type: ignore[union-attr]


def test_strata_are_linked_through_others_and_only_where_they_share_a_cluster() -> None:
    """x and y share a cluster, y and z another, w none: x, y and z are one block, w is its own."""
    kept = {"x": ["a", "b"], "y": ["b", "c"], "z": ["c", "d"], "w": ["e", "f"]}
    rows = [
        (f"{stratum}{n}", stratum, clusters[n % 2], n % 2, 0 if n % 3 else 1)
        for stratum, clusters in kept.items()
        for n in range(6)
    ]
    made = decide(pd.DataFrame(rows, columns=["item_id", "stratum", "cluster", "candidate", "control"]))
    design = made.weighed.base.design
    assert design is not None
    found = {s.name: (w, s.n, s.items) for w, s in design.weighted}
    assert found == {"x + y + z": (Fraction(3, 4), 4, 18), "w": (Fraction(1, 4), 2, 6)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cluster": lambda p: np.where(p["repeat"] == 1, "other", p["cluster"])}, "two clusters"),
        ({"cluster": lambda p: np.where(p["repeat"] == 1, None, p["cluster"])}, "two clusters"),
        ({"first": lambda p: ["wide"] * len(p)}, "pairs: first: 'wide'"),
        ({"candidate_late": lambda p: ["False"] * len(p)}, "pairs: candidate_late"),
        ({"item_id": lambda p: range(len(p))}, "astype"),
    ],
)
def test_what_would_be_believed_silently_is_refused(change: dict[str, Any], words: str) -> None:
    pairs = crossing()
    made = pairs.assign(**{key: value(pairs) for key, value in change.items()})
    with pytest.raises(InputError, match=words):
        decide(made)


def test_no_frame_and_doubled_columns_are_refused() -> None:
    with pytest.raises(InputError, match="a list"):
        decide([])  # type: ignore[arg-type]
    doubled = pd.concat([crossing(), crossing()[["control"]]], axis=1)
    with pytest.raises(InputError, match="two columns control"):
        decide(doubled)


def test_rows_that_are_gone_are_missing_where_it_is_said_what_was_planned() -> None:
    """Pairs that the candidate lost taken out, as an inner merge may do: without the plan nothing shows it."""
    pairs = crossing()
    left = pairs[~((pairs["candidate"] == 0) & (pairs["control"] == 1))]
    assert "trials_missing" not in decide(left).reasons
    assert decide(left, {"trial_budget": 3}).reason == "trials_missing"
    assert "trials_missing" not in decide(pairs, {"trial_budget": 3}, strata={"a": 60, "b": 60}).reasons
    gone = pairs[pairs["item_id"] != "i007"]
    assert decide(gone, strata={"a": 60, "b": 60}).reason == "trials_missing"
    with pytest.raises(InputError, match="60 items; expected at most 10"):
        decide(pairs, strata={"a": 10, "b": 60})
    with pytest.raises(InputError, match="3 rows; expected at most trial_budget, 2"):
        decide(pairs, {"trial_budget": 2})


def test_an_order_that_isnt_known_is_said_to_be_so() -> None:
    block = decide(crossing()).sensitivity()
    assert block["by_order"] is None
    assert "which arm ran first" in block["by_order_why"]
    known = decide(crossing().assign(first=lambda p: np.where(p["repeat"] == 1, "control", "candidate"))).sensitivity()
    assert set(known["by_order"]) == {"candidate_first", "control_first"}


def test_a_verdict_is_printed_as_one_line_with_its_interval_and_level() -> None:
    text = str(decide(pairs_of(make_study(clear_effect()))))
    assert "\n" not in text
    assert text.startswith("publish (publish_blocked_delta_only): Δ +0.600, 96 % interval [+")
    assert len(repr(decide(crossing()))) < 1500


@pytest.mark.parametrize("look", [0, -1, 1.05, 2.0, True, "2", None, float("nan"), 10**400])
def test_a_look_is_a_whole_number(look: Any) -> None:
    with pytest.raises(InputError, match=r"look: .* expected a whole number from 1"):
        decide(frame(), look=look)


@pytest.mark.parametrize(
    "strata", [{"s": "5"}, {"s": None}, {"s": 2.0}, {"s": 0}, {"s": -3}, {"s": True}, {"s": 10**400}, {1: 5}, ["s"]]
)
def test_frozen_sizes_are_whole_numbers_by_name(strata: Any) -> None:
    with pytest.raises(InputError, match="strata"):
        decide(frame(), strata=strata)


@pytest.mark.parametrize("protocol", ["x", 5, [], [1]])
def test_a_protocol_is_a_mapping(protocol: Any) -> None:
    with pytest.raises(InputError, match="protocol: a "):
        decide(frame(), protocol)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"candidate": [1j, 0, 1, 1]}, "candidate"),
        ({"candidate": [10**310, 0, 1, 1]}, "candidate"),
        ({"candidate": [[1], 0, 1, 1]}, "candidate"),
        ({"repeat": [[0], 1, 0, 1]}, "repeat"),
        ({"repeat": [0, pd.Timestamp("2026-01-01"), 0, 1]}, "repeat"),
        ({"repeat": [0, -1, 0, 1]}, "repeat: -1 in row 1"),
        ({"repeat": [0, float("nan"), 0, 1]}, "repeat"),
        ({"candidate_late": [pd.NA, "no", 0, 1]}, "candidate_late"),
        ({"cluster": [np.zeros(2), 1, 2, 3]}, "cluster"),
        ({"first": [np.zeros(2), None, None, None]}, "first"),
        ({"stratum": ["\ud800"] * 4}, "stratum: .* valid Unicode"),
        ({"cluster": ["x\udc80"] * 4}, "cluster: .* valid Unicode"),
    ],
)
def test_odd_values_are_refused_by_column(change: dict[str, Any], words: str) -> None:
    made = frame()
    for name, values in change.items():
        made[name] = pd.Series(values, dtype=object)
    with pytest.raises(InputError, match=f"pairs: {words}"):
        decide(made)


def test_a_missing_word_on_lateness_is_not_late() -> None:
    pairs = crossing().assign(candidate_late=float("nan"), control_late=pd.array([pd.NA] * 360, dtype="boolean"))
    block = decide(pairs).sensitivity()
    assert block["timeouts_pass"]["delta"] == sig6(decide(pairs).delta)  # type: ignore[arg-type]


# --- ways to leave a pair out that no limit would see -------------------------------------------------------------------


def beaten(pairs: pd.DataFrame, share: float) -> pd.Index:
    """Pairs that the control won, at most one of an item and at most a share of all."""
    lost = pairs[(pairs["candidate"] == 0) & (pairs["control"] == 1)]
    return lost.groupby("item_id").head(1).index[: int(share * len(pairs))]


def no_effect(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rates = np.repeat(rng.beta(0.75, 0.75, 100), 3)
    made = {arm: (rng.random(300) < rates).astype("object") for arm in ("candidate", "control")}
    ids = np.repeat([f"i{n:03}" for n in range(100)], 3)
    return pd.DataFrame(
        {"item_id": ids, "stratum": np.repeat(["a", "b"], 150), "repeat": np.tile(range(3), 100), **made}
    )


def test_an_excluded_trial_without_an_outcome_counts_against_what_is_claimed() -> None:
    """By any rule, as a lost one does: its pair stays in the views that must agree."""
    crowned = 0
    for seed in range(40):
        pairs = no_effect(seed)
        gone = beaten(pairs, 0.05)
        pairs["control_rule"] = None
        pairs.loc[gone, "control_rule"] = "retries"
        pairs["candidate_rule"] = None
        pairs.loc[gone, "candidate_rule"] = "retries"
        pairs.loc[gone, ["candidate", "control"]] = None
        verdict = decide(pairs)
        crowned += verdict.published
        required = verdict.weighed.required
        assert len(required["as_observed"].labels) == len(required["excluded_fail"].labels) == 2
        counted = verdict.sensitivity()["as_observed"]["delta"]
        assert counted is not None
        assert verdict.delta is None or verdict.direction <= 0 or counted <= float(verdict.delta) + 1e-9
    assert crowned <= 4


def test_a_partner_needs_a_trial_that_was_excluded_or_is_missing() -> None:
    pairs = no_effect(1)
    gone = beaten(pairs, 0.05)
    for rules in (("pair_partner", "pair_partner"), ("pair_partner", None), (None, "pair_partner")):
        made = pairs.assign(candidate_rule=None, control_rule=None)
        made.loc[gone, ["candidate_rule", "control_rule"]] = rules
        with pytest.raises(InputError, match="pair_partner where"):
            decide(made)
    fine = pairs.assign(candidate_rule=None, control_rule=None)
    fine.loc[gone, ["candidate_rule", "control_rule"]] = ("pair_partner", "queue_delay")
    assert decide(fine).weighed.exclusions["asymmetry"]["control"] == len(gone)


def test_an_item_rule_stands_on_the_whole_item() -> None:
    pairs = no_effect(2)
    one = pairs.assign(candidate_rule=None, control_rule=None)
    one.loc[0, ["candidate_rule", "control_rule"]] = "oracle_flaky"
    with pytest.raises(InputError, match="i000: an item rule on some of its trials"):
        decide(one)
    whole = pairs.assign(candidate_rule=None, control_rule=None)
    whole.loc[0:2, ["candidate_rule", "control_rule"]] = "oracle_flaky"
    assert decide(whole).items["a"] == 49


def test_too_few_pairs_is_counted_and_not_believed() -> None:
    pairs = no_effect(3).assign(candidate_rule=None, control_rule=None)
    pairs.loc[beaten(pairs, 1), ["candidate_rule", "control_rule"]] = "too_few_pairs"
    assert decide(pairs).delta == decide(no_effect(3)).delta


def test_a_rule_that_wasnt_registered_withholds() -> None:
    pairs = no_effect(4).assign(control_rule=None)
    pairs.loc[0, "control_rule"] = "retries"
    assert "posthoc_exclusion" not in decide(pairs).reasons
    assert decide(pairs, {"exclusion_rules": ["queue_delay"]}).reason == "posthoc_exclusion"


def test_a_stratum_that_could_be_a_study_is_no_case_series() -> None:
    """However high the registered floor is, thirty items that the candidate loses stay in the summary."""
    rows = [(f"w{n}", "win", 1, n % 3 // 2) for n in range(60)] + [(f"l{n}", "lose", 0, n % 3 // 2) for n in range(30)]
    pairs = pd.DataFrame(rows, columns=["item_id", "stratum", "candidate", "control"])
    with pytest.raises(InputError, match="'lose' has 30 items; expected fewer than 20"):
        decide(pairs, {"min_stratum_items": 31, "case_series": ["lose"]})
    with pytest.raises(InputError, match="lose: 30 items; expected at most 4"):
        decide(pairs, {"case_series": ["lose"]}, strata={"win": 60, "lose": 4})
