"""The bootstrap interval against full enumeration, resampling and other people's code."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
import stats_reference as ref

from stages import stats
from stages.stats import lattice, spectrum

ALPHA = Fraction(1, 20)
DESIGNS = list(itertools.product(range(9), [[1], [3], [1, 2, 3, 5]], [False, True]))


def built(raw: ref.Raw, weights: dict[str, Fraction], clustered: bool = True) -> stats.Design:
    strata = [
        stats.stratum(name, [d for d, _ in items], [c for _, c in items] if clustered else None)
        for name, items in raw.items()
    ]
    return stats.design(strata, weights)


def drawn(seed: int, repeats: list[int], clustered: bool, units: int = 5) -> tuple[ref.Raw, dict[str, Fraction]]:
    rng = random.Random(f"{seed} {repeats} {clustered}")
    raw = ref.random_raw(rng, units, 1 + seed % 3, repeats, clustered)
    return raw, ref.random_weights(rng, list(raw))


def varied(sizes: list[int], repeats: list[int], seed: int, lift: float = 0.05) -> stats.Design:
    rng = np.random.default_rng(seed)
    strata = []
    for i, n in enumerate(sizes):
        k = rng.choice(repeats, n)
        rate = rng.beta(1, 1, n)
        gains = rng.binomial(k, np.clip(rate + lift, 0, 1)) - rng.binomial(k, rate)
        strata.append(stats.stratum_from_arrays(f"s{i}", gains, k))
    return stats.design(strata)


@pytest.mark.parametrize(("seed", "repeats", "clustered"), DESIGNS)
def test_distribution_and_limits_are_those_of_full_enumeration(seed: int, repeats: list[int], clustered: bool) -> None:
    raw, weights = drawn(seed, repeats, clustered)
    pmf = ref.bootstrap_pmf(raw, weights)
    design = built(raw, weights, clustered)
    law = stats.bootstrap_law(design)
    below = Fraction(0)
    for x in sorted(pmf):
        assert abs(law.at_least(x) - float(1 - below)) < 1e-12
        below += pmf[x]
        assert abs(law.at_most(x) - float(below)) < 1e-12
    interval = stats.bootstrap_interval(design, ALPHA)
    if len(pmf) == 1:
        assert interval.kind == "none"
        return
    level = ref.reference_tail(raw, weights, ALPHA)
    assert interval.kind == "exact"
    assert interval.width == 0
    assert interval.tail_level == level
    assert (interval.lo, interval.hi) == ref.limits(pmf, level)


def test_the_reference_convolution_is_the_list_of_every_resample() -> None:
    for seed, clustered in ((3, False), (4, True), (7, True)):
        raw, weights = drawn(seed, [1, 2, 3], clustered, units=4)
        assert ref.every_resample(raw, weights) == ref.bootstrap_pmf(raw, weights)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_forced_bracket_holds_the_enumerated_limits(
    seed: int, clustered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, weights = drawn(seed, [1, 2, 3, 5, 7], clustered, units=4)
    level = ref.reference_tail(raw, weights, ALPHA)
    lo, hi = ref.limits(ref.bootstrap_pmf(raw, weights), level)
    design = built(raw, weights, clustered)
    for exact_points in (3, 12, 40):
        monkeypatch.setattr(lattice, "EXACT_POINTS", exact_points)
        monkeypatch.setattr(lattice, "MERGE_POINTS", 2**10)
        monkeypatch.setattr(lattice, "DRAW_POINTS", 2**12)
        interval = stats.bootstrap_interval(design, ALPHA)
        assert interval.lo is not None
        assert interval.hi is not None
        assert interval.lo <= lo <= interval.lo + interval.width
        assert interval.hi - interval.width <= hi <= interval.hi


def test_unequal_strata_under_equal_weights_are_bracketed_within_a_ten_thousandth() -> None:
    interval = stats.bootstrap_interval(varied([123, 127, 131, 119], [5], 1), ALPHA)
    assert interval.kind == "bracket"
    assert 0 < interval.width < Fraction(1, 10_000)


@pytest.mark.parametrize("sizes", [[100], [120, 80]])
def test_items_each_with_their_own_number_of_repeats_are_bracketed_within_a_ten_thousandth(
    sizes: list[int],
) -> None:
    design = varied(sizes, list(range(1, 97)), 5)
    interval = stats.bootstrap_interval(design, ALPHA)
    assert interval.kind == "bracket"
    assert 0 < interval.width < Fraction(1, 10_000)
    draws = np.sort(stats.multinomial_bootstrap(design, 100_000, np.random.default_rng(0)))
    assert interval.tail_level is not None
    assert interval.lo is not None
    # The share of resamples under the limit is the tail level, to 5 standard errors.
    share = float(np.mean(draws <= float(interval.lo)))
    assert abs(share - interval.tail_level) < 5 * math.sqrt(interval.tail_level / draws.size)


def agreement(design: stats.Design, replicates: int) -> None:
    """Sampled and computed distribution agree; P(sup > bound) is 1e-4 by Dvoretzky, Kiefer, Wolfowitz."""
    draws = np.sort(stats.multinomial_bootstrap(design, replicates, np.random.default_rng(11)))
    law = stats.bootstrap_law(design)
    bound = math.sqrt(math.log(2e4) / 2 / replicates)
    for level in np.linspace(0.005, 0.995, 41):
        x = law.lower_quantile(float(level))
        share = np.searchsorted(draws, float(x) + 1e-9, side="right") / replicates
        assert abs(share - law.at_most(x)) < bound + 1e-4 * bool(law.slack)
        if replicates >= 10**6 and not 0.03 < level < 0.97:
            assert abs(share - law.at_most(x)) < 1e-3


@pytest.mark.parametrize(("sizes", "repeats"), [([40], [3]), ([30, 20, 10], [5]), ([25, 17], [1, 2, 3])])
def test_resampling_agrees_with_the_computed_distribution(sizes: list[int], repeats: list[int]) -> None:
    agreement(varied(sizes, repeats, 2), 50_000)


@pytest.mark.heavy
@pytest.mark.parametrize(("sizes", "repeats"), [([150], [3]), ([60, 40, 50, 150], [5]), ([97, 61], list(range(1, 97)))])
def test_a_million_resamples_agree_with_the_computed_distribution(sizes: list[int], repeats: list[int]) -> None:
    agreement(varied(sizes, repeats, 3), 10**6)


def test_the_unexpanded_tails_are_those_of_scipy_stats_bootstrap() -> None:
    design = varied([60], [4], 9)
    (only,) = design.strata
    sample = np.repeat([float(v) for v in only.values], only.counts)
    found = scipy.stats.bootstrap(
        (sample,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    )
    law = stats.bootstrap_law(design)
    ends = found.confidence_interval
    for level, limit in (
        (law.at_most(Fraction(ends.low)), 0.025),
        (law.at_least(Fraction(ends.high)), 0.025),
    ):
        assert abs(level - limit) < 0.01  # an atom of the distribution has a probability of about .01 here


def test_both_ways_to_a_spectrum_give_the_same_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    design = varied([3000, 2000], [5], 4)
    direct = stats.bootstrap_law(design)
    monkeypatch.setattr(spectrum, "DIRECT", 0)
    folded = stats.bootstrap_law(design)
    assert np.abs(direct.below - folded.below).max() < 1e-11
    assert abs(direct.below[-1] - 1) < 1e-12


def test_a_tiny_tail_of_a_large_sample_is_that_of_the_binomial() -> None:
    n, wins = 1_000_000, 300_000
    one = stats.stratum_from_arrays("s", np.repeat([0, 1], [n - wins, wins]), np.ones(n, dtype=np.int64))
    law = stats.bootstrap_law(stats.design([one]))
    for count in (wins - 2800, wins - 1500, wins - 3, wins + 900):
        assert abs(law.at_most(Fraction(count, n)) - scipy.stats.binom.cdf(count, n, wins / n)) < 1e-11


@pytest.mark.parametrize("alpha", [Fraction(1, 20), Fraction(1, 25), Fraction(1, 500)])
def test_the_tail_level_follows_its_formula_with_scipy_stats(alpha: Fraction) -> None:
    raw, weights = drawn(8, [1, 2, 3, 5], True)
    found = stats.moments(built(raw, weights))
    assert stats.tail_level(found, alpha) == ref.reference_tail(raw, weights, alpha)
