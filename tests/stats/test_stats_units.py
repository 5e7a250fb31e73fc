"""Units, clusters, and inputs that mean little or nothing."""

from __future__ import annotations

import itertools
import math
import random
import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from stages import stats

ALPHA = Fraction(1, 20)


def test_one_stratum_has_the_tail_of_hesterberg() -> None:
    # Hesterberg 2015: for n = 20 the tail of a nominal 2.5 % is read at Phi(-sqrt(20/19) 2.093).
    one = stats.stratum("s", [Fraction(i % 3) for i in range(20)])
    level = stats.tail_level(stats.moments(stats.design([one])), ALPHA)
    assert level == pytest.approx(float(scipy.stats.norm.cdf(-math.sqrt(20 / 19) * 2.0930240544)), rel=1e-5)


def test_a_cluster_is_the_unit_that_is_counted() -> None:
    differences = [Fraction(1), Fraction(1), Fraction(0), Fraction(-1), Fraction(1, 2)]
    design = stats.design([stats.stratum("s", differences, ["a", "a", "b", "b", "c"])])
    found = stats.moments(design)
    # By hand: totals 2, -1, 1/2 times 3/5 are 6/5, -3/5, 3/10: mean 3/10, variance 81/100.
    assert found.delta == Fraction(3, 10)
    assert found.variance == Fraction(27, 100)
    assert found.plain == Fraction(18, 100)
    assert found.df == 2


def test_clusters_of_one_are_no_clusters() -> None:
    differences = [Fraction(i % 4 - 1, 3) for i in range(12)]
    plain = stats.stratum("s", differences)
    assert stats.stratum("s", differences, [str(i) for i in range(12)]) == plain


def test_arrays_and_rationals_build_the_same_stratum() -> None:
    gains, pairs = np.array([2, -1, 0, 3, 4, 0]), np.array([4, 2, 3, 3, 8, 5])
    differences = [Fraction(int(g), int(k)) for g, k in zip(gains, pairs, strict=True)]
    assert stats.stratum_from_arrays("s", gains, pairs) == stats.stratum("s", differences)
    clusters = ["x", "y", "x", "z", "y", "y"]
    assert stats.stratum_from_arrays("s", gains, pairs, clusters) == stats.stratum("s", differences, clusters)


@pytest.mark.parametrize(
    ("strata", "word"),
    [
        ([[1], [0, 1, 1]], "single unit"),
        ([[1]], "single unit"),
        ([[1, 1, 1]], "same difference"),
        ([[0, 0, 0], [1, 1]], "same difference"),
    ],
)
def test_data_without_variance_have_no_interval_and_exclude_nothing(strata: list[list[int]], word: str) -> None:
    design = stats.design([stats.stratum(str(i), values) for i, values in enumerate(strata)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interval = stats.bootstrap_interval(design, ALPHA)
    assert (interval.kind, interval.lo, interval.hi, interval.tail_level) == ("none", None, None, None)
    assert interval.why is not None
    assert word in interval.why
    assert not stats.excludes(interval, Fraction(0), "superiority")


def test_a_stratum_without_variance_beside_one_with_it_is_a_constant() -> None:
    flat = stats.stratum("flat", [Fraction(1, 2)] * 4)
    other = stats.stratum("other", [0, 1, 1, 0, 1, 0, 1])
    half = stats.bootstrap_interval(stats.design([flat, other]), ALPHA)
    alone = stats.bootstrap_interval(stats.design([other]), ALPHA)
    assert (half.lo, half.hi) == tuple((x + Fraction(1, 2)) / 2 for x in (alone.lo, alone.hi) if x is not None)


def test_a_stratum_of_weight_zero_has_no_say() -> None:
    a, single = stats.stratum("a", [0, 1, 1, 0, 1, 0]), stats.stratum("b", [1])
    both = stats.design([a, single], {"a": Fraction(1), "b": Fraction(0)})
    assert stats.bootstrap_interval(both, ALPHA) == stats.bootstrap_interval(stats.design([a]), ALPHA)


def test_two_units_give_the_whole_support() -> None:
    interval = stats.bootstrap_interval(stats.design([stats.stratum("s", [0, 1])]), ALPHA)
    assert (interval.lo, interval.hi) == (Fraction(0), Fraction(1))


def test_a_limit_at_the_value_does_not_exclude_it_and_a_bracket_across_it_is_undecided() -> None:
    found = stats.bootstrap_interval(stats.design([stats.stratum("s", [0, 1, 1, 0, 1, 0])]), ALPHA)

    def at(lo: Fraction, width: Fraction) -> stats.Interval:
        return stats.Interval(found.moments, "bracket", lo, Fraction(1), width, 0.01, None)

    assert stats.side(at(Fraction(0), Fraction(0)), Fraction(0)) == "inside"
    assert stats.side(at(Fraction(1, 10), Fraction(0)), Fraction(0)) == "above"
    assert stats.side(at(Fraction(-1, 10), Fraction(2, 10)), Fraction(0)) == "undecided"
    assert stats.side(at(Fraction(-2, 10), Fraction(1, 10)), Fraction(0)) == "inside"
    assert stats.side(at(Fraction(-2, 10), Fraction(1, 10)), Fraction(2)) == "below"
    assert not stats.excludes(at(Fraction(-1, 10), Fraction(2, 10)), Fraction(0), "superiority")
    assert not stats.excludes(at(Fraction(-2, 10), Fraction(0)), Fraction(2), "noninferiority")


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1), Fraction(-1, 20)])
def test_an_alpha_outside_of_0_and_1_is_refused(alpha: Fraction) -> None:
    for values in ([0, 1, 1], [1, 1]):
        with pytest.raises(ValueError, match="alpha"):
            stats.bootstrap_interval(stats.design([stats.stratum("s", values)]), alpha)


def test_designs_that_mean_nothing_are_refused() -> None:
    a, b = stats.stratum("a", [0, 1]), stats.stratum("b", [0, 1])
    for weights in (
        {"a": Fraction(1)},
        {"a": Fraction(1), "b": Fraction(1)},
        {"a": Fraction(2), "b": Fraction(-1)},
    ):
        with pytest.raises(ValueError, match="weights"):
            stats.design([a, b], weights)
    with pytest.raises(ValueError, match="distinct names"):
        stats.design([a, a])
    with pytest.raises(ValueError, match="no items"):
        stats.stratum("a", [])
    with pytest.raises(ValueError, match="at least one pair"):
        stats.stratum_from_arrays("a", np.array([0, 1]), np.array([1, 0]))


@pytest.mark.parametrize("seed", range(8))
def test_strata_that_share_clusters_are_resampled_and_flipped_as_one_by_whole_clusters(seed: int) -> None:
    """Against the list of every resample and every sign of whole clusters, whose parts lie in two or three strata."""
    rng = random.Random(seed)
    names = [f"s{n}" for n in range(2 + seed % 2)]
    weights = dict(zip(names, [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)][-len(names) :], strict=True))
    weights = {name: w / sum(weights.values()) for name, w in weights.items()}
    clusters = [f"c{n}" for n in range(4)]
    items = {
        name: [(Fraction(rng.randint(-3, 3), 3), rng.choice(clusters)) for _ in range(rng.randint(3, 6))]
        for name in names
    }
    items["s0"][0], items["s1"][0] = (Fraction(1), "c0"), (Fraction(1, 3), "c0")
    weight, made = stats.linked_strata(
        "all", [(weights[n], [d for d, _ in items[n]], [c for _, c in items[n]]) for n in names]
    )
    assert weight == 1
    each: dict[str, Fraction] = {}
    for name, own in items.items():
        for d, c in own:
            each[c] = each.get(c, Fraction(0)) + weights[name] * d / len(own)
    totals, count = list(each.values()), len(each)
    law = stats.bootstrap_law(stats.design([made]))
    ways = Counter(sum(chosen, Fraction(0)) for chosen in itertools.product(totals, repeat=count))
    below = 0
    for x in sorted(ways):
        below += ways[x]
        assert abs(law.at_most(x) - below / count**count) < 1e-12
    found = stats.moments(stats.design([made]))
    mean = sum(totals, Fraction(0)) / count
    assert found.delta == sum(totals, Fraction(0))
    assert found.variance == sum((t - mean) ** 2 for t in totals) * count / (count - 1)
    for margin in (Fraction(0), Fraction(1, 10)):
        moved: dict[str, Fraction] = {}
        for name, own in items.items():
            for d, c in own:
                moved[c] = moved.get(c, Fraction(0)) + weights[name] * (d + margin) / len(own)
        seen = abs(sum(moved.values(), Fraction(0)))
        signs = itertools.product((-1, 1), repeat=count)
        hits = sum(abs(sum(s * t for s, t in zip(sign, moved.values(), strict=True))) >= seen for sign in signs)
        assert stats.sign_flip(stats.design([made]), margin).p == pytest.approx(hits / 2**count, rel=1e-12)


def test_linked_strata_need_a_weight() -> None:
    with pytest.raises(ValueError):
        stats.linked_strata("x", [(Fraction(0), [Fraction(1)], ["c"])])
