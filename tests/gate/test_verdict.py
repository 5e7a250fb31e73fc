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
        (frame(candidate=["1", "0", "1", "1"]), {}, "pairs: candidate: a value that is no outcome"),
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
    with pytest.raises(InputError, match="stratum: 's'"):
        decide(frame(), strata={"t": 5})
    with pytest.raises(InputError, match="look: 0"):
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
