"""Data that say little, or are built to break arithmetic: every result is defined, finite, and warns of nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages import stats

ALPHA = Fraction(1, 20)
MILLION = 1_000_000
pytestmark = pytest.mark.filterwarnings("error")


def sound(
    design: stats.Design, alpha: Fraction = ALPHA, margin: Fraction = Fraction(0)
) -> tuple[stats.Interval, stats.SignFlip]:
    """The interval and the guard, after checking all that must hold for any data."""
    found = stats.moments(design)
    spread = (found.variance, found.plain, found.df)
    if found.why is None:
        assert all(isinstance(x, Fraction) and x > 0 for x in spread)
        assert found.variance is not None
        assert found.df is not None
        assert found.plain is not None
        assert found.plain < found.variance
        assert 1 <= found.df <= sum(s.n - 1 for _, s in design.weighted)
        units = sum(s.n for _, s in design.weighted)
        mde = stats.mde80_observed(found.variance, found.df, units, 1, alpha)
        assert mde is None or 0 < mde <= 1
    else:
        assert found.why
        assert spread in ((None, None, None), (0, 0, None))

    interval = stats.bootstrap_interval(design, alpha)
    assert interval.moments == found
    assert (interval.kind == "none") == (found.why is not None)
    assert (interval.why, interval.width >= 0) == (found.why, True)
    limits = (interval.lo, interval.hi, interval.tail_level)
    if interval.lo is None or interval.hi is None or interval.tail_level is None:
        assert limits == (None, None, None)
        assert not stats.excludes(interval, -margin, "noninferiority")
    else:
        assert interval.lo <= interval.delta <= interval.hi
        assert all(math.isfinite(float(x)) for x in (*limits, interval.width) if x is not None)
        assert 0 <= interval.tail_level < 0.5
        assert (interval.kind == "bracket") == (interval.width > 0)
        values = [(w, s.values) for w, s in design.weighted]
        assert sum(w * min(v) for w, v in values) <= interval.lo
        assert interval.hi <= sum(w * max(v) for w, v in values)

    flips = stats.sign_flip(design, margin)
    assert 0 <= flips.p_lower <= flips.p <= 1
    assert flips.kind == "bracket" or flips.p_lower == flips.p
    return interval, flips


def one(values: Sequence[Fraction | int], clusters: list[str] | None = None) -> stats.Design:
    return stats.design([stats.stratum("s", values, clusters)])


def arrays(gains: list[int] | np.typing.NDArray[np.int64], pairs: int = 1) -> stats.Design:
    g = np.asarray(gains)
    return stats.design([stats.stratum_from_arrays("s", g, np.full(g.size, pairs))])


@pytest.mark.parametrize("value", [Fraction(0), Fraction(1), Fraction(-1), Fraction(2, 7)])
def test_one_item_has_a_difference_and_no_interval(value: Fraction) -> None:
    interval, flips = sound(one([value]))
    assert interval.delta == value
    assert interval.why == "stratum s has a single unit: its variance is unknown"
    assert flips == stats.SignFlip(1.0, 1.0, "exact")


@pytest.mark.parametrize("n", [2, 20, 500])
def test_all_ties_have_no_variance_and_p_of_one(n: int) -> None:
    interval, flips = sound(one([0] * n))
    assert (interval.delta, interval.moments.variance) == (0, 0)
    assert interval.why == "within every stratum all units have the same difference"
    assert flips.p == 1.0


def test_without_variance_there_is_no_interval_though_the_guard_may_be_small() -> None:
    interval, flips = sound(one([Fraction(1, 3)] * 30))
    assert (interval.kind, interval.moments.variance, interval.moments.df) == ("none", 0, None)
    assert flips.p == pytest.approx(2 * 0.5**30, rel=1e-12)


def test_a_stratum_of_one_item_leaves_the_whole_summary_without_an_interval() -> None:
    mixed = stats.design([stats.stratum("a", [0, 1, 1, 0, 1]), stats.stratum("b", [1])])
    interval, _ = sound(mixed)
    assert interval.why == "stratum b has a single unit: its variance is unknown"
    assert interval.delta == (Fraction(3, 5) + 1) / 2
    without = stats.design(mixed.strata, {"a": Fraction(1), "b": Fraction(0)})
    assert sound(without)[0].lo == Fraction(0), "a stratum of weight 0 has no say"


@pytest.mark.parametrize("n", [2, 3, 6, 40])
def test_one_item_that_differs_from_all_others_is_bounded_by_how_often_it_is_drawn(n: int) -> None:
    interval, flips = sound(one([0] * (n - 1) + [1]))
    assert interval.lo == 0, "it is missing from a third of all resamples"
    assert interval.hi is not None
    assert interval.hi > Fraction(1, n)
    assert flips.p == 1.0


@pytest.mark.parametrize(("wins", "losses"), [(1, 1), (5, 0), (3, 4), (60, 41), (600, 399)])
def test_differences_of_plus_and_minus_one_only(wins: int, losses: int) -> None:
    interval, flips = sound(one([1] * wins + [-1] * losses))
    assert interval.delta == Fraction(wins - losses, wins + losses)
    assert (interval.kind == "none") == (losses == 0)
    assert flips.kind == "exact"


def test_clusters_of_one_are_items_and_a_single_cluster_is_a_single_unit() -> None:
    values: list[Fraction | int] = [Fraction(i % 5 - 1, 4) for i in range(23)]
    assert sound(one(values, [str(i) for i in range(23)])) == sound(one(values))
    interval, flips = sound(one(values, ["only"] * 23))
    assert interval.why == "stratum s has a single unit: its variance is unknown"
    assert interval.delta == sum(values, Fraction(0)) / 23
    assert flips.p == 1.0


def test_clusters_whose_totals_are_all_alike_have_no_variance() -> None:
    values: list[Fraction | int] = [1, 0, Fraction(1, 2), Fraction(1, 2), 1]
    interval, _ = sound(one(values, ["a", "a", "b", "b", "c"]))
    assert (interval.kind, interval.moments.variance) == ("none", 0)


def test_a_million_identical_differences_have_no_interval() -> None:
    interval, flips = sound(arrays(np.full(MILLION, 2), 3))
    assert (interval.kind, interval.delta) == ("none", Fraction(2, 3))
    assert flips.p < 1e-12
    assert sound(arrays(np.zeros(MILLION, dtype=np.int64)))[1].p == 1.0


@pytest.mark.parametrize(("base", "other"), [(0, 1), (0, -1), (2, -3), (3, 2)])
def test_a_million_with_one_that_differs_are_a_poisson_variable(base: int, other: int) -> None:
    gains = np.full(MILLION, base)
    gains[1234] = other
    interval, _ = sound(arrays(gains, 3))
    # How often it is drawn is Poisson(1), but for 1e-6: P(0) = .37, P(>= 4) = .019, P(>= 3) = .080; the tail is .025.
    ends = sorted(Fraction(base, 3) + Fraction(other - base, 3) * times / MILLION for times in (0, 3))
    assert [interval.lo, interval.hi] == ends


@pytest.mark.parametrize("denominators", [(10**6 + 3, 10**6 + 33), (2**61 - 1, 2**89 - 1), (10**40 + 1, 10**41 + 3)])
def test_huge_denominators_are_bracketed(denominators: tuple[int, int]) -> None:
    a, b = denominators
    values: list[Fraction | int] = [Fraction(a // (i + 2), a) for i in range(12)]
    values += [Fraction(-b // (i + 3), b) for i in range(12)]
    interval, flips = sound(one(values))
    assert interval.kind == "bracket"
    assert interval.width < Fraction(1, 10_000)
    assert flips.p_lower > 0.5 * flips.p


@pytest.mark.parametrize("k", [100, 3_000_000_000, 2**62])
def test_arrays_of_huge_counts_are_the_rationals_that_they_say(k: int) -> None:
    gains, pairs = [k - 1, 5 - k, 2, k - 1], [k, k, k - 7, k]
    found = stats.stratum_from_arrays("s", np.array(gains), np.array(pairs))
    assert found == stats.stratum("s", [Fraction(g, p) for g, p in zip(gains, pairs, strict=True)])


def test_a_common_denominator_beyond_all_floats_is_bracketed() -> None:
    primes = [p for p in range(1000, 3000) if all(p % d for d in range(2, 55))][:120]
    assert math.prod(primes) > 10**320
    interval, flips = sound(one([Fraction(p // 3 * (i % 3 - 1) + i, p) for i, p in enumerate(primes)]))
    assert (interval.kind, flips.kind) == ("bracket", "bracket")


def test_weights_without_a_common_denominator_that_a_float_holds_are_bracketed() -> None:
    # 2 * 9 strata of weights a / 9b and (b - a) / 9b, which sum to 1, with b coprime and beyond 10^39.
    apart: list[int] = []
    for b in range(10**39 + 1, 10**39 + 2000, 2):
        if b % 3 and all(math.gcd(b, other) == 1 for other in apart) and len(apart) < 9:
            apart.append(b)
    weights = {f"{i}{j}": Fraction(a, 9 * b) for i, b in enumerate(apart) for j, a in enumerate((b // 3, b - b // 3))}
    assert math.lcm(*(w.denominator for w in weights.values())) > 10**350
    interval, _ = sound(stats.design([stats.stratum(name, [0, 1, 1, 0, 1, -1]) for name in weights], weights))
    assert interval.kind == "bracket"


def repeats_of_their_own(seed: int, items: int, lift: float = 0.05) -> tuple[list[int], list[int]]:
    """Gains and pairs of items with 1 to 96 repeats, as public run data have."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(1, 97, items)
    rate = rng.random(items)
    gains = rng.binomial(pairs, np.clip(rate + lift, 0, 1)) - rng.binomial(pairs, rate)
    return gains.tolist(), pairs.tolist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "weights",
    [
        [Fraction(1)],
        [Fraction(1, 3), Fraction(2, 3)],
        [Fraction(2, 7), Fraction(5, 7)],
        [Fraction(1, 3), Fraction(2, 7), Fraction(8, 21)],
        [Fraction(3, 11), Fraction(1, 13), Fraction(93, 143), Fraction(0)],
    ],
    ids=lambda ws: "+".join(map(str, ws)).replace("/", "_"),
)
def test_items_each_with_their_own_repeats_are_bracketed_within_a_ten_thousandth(
    weights: list[Fraction], seed: int
) -> None:
    gains, pairs = repeats_of_their_own(seed, 100)
    strata = [
        stats.stratum_from_arrays(str(i), np.array(gains[i :: len(weights)]), np.array(pairs[i :: len(weights)]))
        for i in range(len(weights))
    ]
    design = stats.design(strata, {str(i): w for i, w in enumerate(weights)})
    interval, flips = sound(design, margin=Fraction(1, 30))
    assert interval.kind == "bracket"
    assert interval.width < Fraction(1, 10_000)
    assert flips.p - flips.p_lower < 0.01 * flips.p + 1e-9


@pytest.mark.parametrize("alpha", [Fraction(1, 10**6), Fraction(1, 10**12), Fraction(1, 10**25), Fraction(1, 10**40)])
@pytest.mark.parametrize("n", [2, 5, 40])
def test_a_tiny_alpha_gives_a_wide_interval_and_at_last_the_whole_support(alpha: Fraction, n: int) -> None:
    design = one([i % 3 - 1 for i in range(n)])
    interval, _ = sound(design, alpha)
    usual, _ = sound(design)
    assert interval.lo is not None
    assert interval.hi is not None
    assert usual.lo is not None
    assert usual.hi is not None
    assert interval.lo <= usual.lo
    assert usual.hi <= interval.hi
    if n == 2 or alpha < Fraction(1, 10**20):
        (only,) = design.strata
        assert (interval.lo, interval.hi) == (min(only.values), max(only.values))


@pytest.mark.parametrize("margin", [Fraction(1), Fraction(3), Fraction(10**6), Fraction(10**6, 10**6 + 3)])
def test_a_margin_larger_than_any_difference_is_a_clear_case(margin: Fraction) -> None:
    values: list[Fraction | int] = [Fraction(i % 5 - 2, 5) for i in range(25)]
    interval, flips = sound(one(values), margin=margin)
    assert stats.excludes(interval, -margin, "noninferiority")
    # Every shifted difference is positive, so only two of all patterns of signs are as far out.
    assert flips.p == pytest.approx(2 * 0.5**25, rel=1e-6)


rational = st.one_of(
    st.sampled_from([Fraction(0), Fraction(1), Fraction(-1)]),
    st.fractions(-1, 1, max_denominator=5),
    st.builds(lambda k, x: Fraction(round(x * k), k), st.integers(1, 96), st.floats(-1, 1)),
    st.builds(Fraction, st.integers(-(10**9), 10**9), st.just(10**9 + 7)),
)
members = st.one_of(
    st.lists(rational, min_size=1, max_size=25),
    st.builds(lambda v, n: [v] * n, rational, st.integers(1, 60)),
    st.builds(lambda v, n, w: [v] * n + [w], rational, st.integers(1, 60), rational),
)
alphas = st.sampled_from([Fraction(1, 5), ALPHA, Fraction(1, 25), Fraction(1, 10**6), Fraction(1, 10**15)])
margins = st.one_of(st.just(Fraction(0)), st.fractions(0, 3, max_denominator=40))


@st.composite
def designs(draw: st.DrawFn) -> stats.Design:
    """One to four strata of any of these items, in clusters or not, with any weights, 0 among them."""
    strata = []
    for i in range(draw(st.integers(1, 4))):
        values = draw(members)
        clusters = draw(st.one_of(st.none(), st.lists(st.integers(0, 6), min_size=len(values), max_size=len(values))))
        strata.append(stats.stratum(str(i), values, clusters))
    shares = draw(
        st.lists(st.integers(0, 11), min_size=len(strata), max_size=len(strata)).filter(lambda parts: sum(parts) > 0)
    )
    return stats.design(strata, {str(i): Fraction(part, sum(shares)) for i, part in enumerate(shares)})


@settings(max_examples=80, deadline=None, derandomize=True)
@given(designs(), alphas, margins)
def test_any_combination_of_these_is_sound(design: stats.Design, alpha: Fraction, margin: Fraction) -> None:
    sound(design, alpha, margin)


@pytest.mark.heavy
@settings(max_examples=500, deadline=None, derandomize=True)
@given(designs(), alphas, margins)
def test_any_of_five_hundred_combinations_is_sound(design: stats.Design, alpha: Fraction, margin: Fraction) -> None:
    sound(design, alpha, margin)
