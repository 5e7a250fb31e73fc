"""The guard against the binomial, against all sign patterns, and against its own brackets."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
import stats_reference as ref
from hypothesis import given, settings
from hypothesis import strategies as st

from stages import stats
from stages.stats import lattice


def built(raw: ref.Raw, weights: dict[str, Fraction]) -> stats.Design:
    strata = (stats.stratum(name, *map(list, zip(*items, strict=True))) for name, items in raw.items())
    return stats.design(strata, weights)


@pytest.mark.parametrize(("wins", "losses", "ties"), [(9, 2, 5), (3, 3, 0), (1, 0, 9), (40, 22, 88), (0, 7, 1)])
def test_with_one_repeat_it_is_the_exact_binomial(wins: int, losses: int, ties: int) -> None:
    one = stats.stratum("s", [1] * wins + [-1] * losses + [0] * ties)
    found = stats.sign_flip(stats.design([one]))
    assert found.kind == "exact"
    assert found.p == pytest.approx(scipy.stats.binomtest(wins, wins + losses).pvalue, rel=1e-10)


def test_with_a_million_items_of_one_repeat_it_is_the_exact_binomial() -> None:
    gains = np.repeat([1, -1, 0], [252_000, 250_500, 497_500])
    found = stats.sign_flip(stats.design([stats.stratum_from_arrays("s", gains, np.ones_like(gains))]))
    expected = 2 * scipy.stats.binom.sf(251_999, 502_500, 0.5)
    assert found.p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(16))
def test_it_counts_sign_patterns(seed: int) -> None:
    rng = random.Random(seed)
    raw = ref.random_raw(rng, 6, 1 + seed % 2, [1, 2, 3, 4][: 1 + seed % 4], clustered=seed % 3 == 0)
    weights = ref.random_weights(rng, list(raw))
    for margin in (Fraction(0), Fraction(1, 20)):
        found = stats.sign_flip(built(raw, weights), margin)
        assert found.kind == "exact"
        assert found.p == pytest.approx(float(ref.brute_sign_flip(raw, weights, margin)), abs=1e-12)


def test_it_counts_the_patterns_of_sixteen_items() -> None:
    rng = random.Random(5)
    raw = {"s": [(Fraction(rng.randint(-2, 5), 5), str(i)) for i in range(16)]}
    one = {"s": Fraction(1)}
    expected = float(ref.brute_sign_flip(raw, one))
    assert stats.sign_flip(built(raw, one)).p == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_a_bracket_holds_the_count_and_its_upper_end_is_the_p(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    raw = ref.random_raw(rng, 6, 2, [1, 2, 3, 5, 7], clustered=seed % 2 == 0)
    weights = ref.random_weights(rng, list(raw))
    expected = float(ref.brute_sign_flip(raw, weights))
    for exact_points in (3, 60):
        monkeypatch.setattr(lattice, "EXACT_POINTS", exact_points)
        found = stats.sign_flip(built(raw, weights))
        assert found.kind == "bracket"
        assert found.p_lower - 1e-12 <= expected <= found.p + 1e-12


def test_mixed_denominators_are_bracketed_within_two_percent_of_p() -> None:
    rng = np.random.default_rng(2)
    pairs = rng.integers(1, 97, 100)
    gains = rng.binomial(pairs, 0.56) - rng.binomial(pairs, 0.5)
    design = stats.design([stats.stratum_from_arrays("s", gains, pairs)])
    found = stats.sign_flip(design)
    assert found.kind == "bracket"
    assert found.p_lower <= found.p <= 1.02 * found.p_lower
    (only,) = design.strata
    sizes = np.repeat([float(abs(v)) for v in only.values], only.counts)
    sums = rng.choice([-1.0, 1.0], size=(40_000, sizes.size)) @ sizes
    share = float(np.mean(np.abs(sums) >= float(only.mean) * sizes.size - 1e-9))
    assert abs(share - found.p) < 5 * math.sqrt(found.p / 40_000)


def test_no_difference_at_all_gives_one() -> None:
    for values in ([0, 0, 0], [1, -1], [0]):
        assert stats.sign_flip(stats.design([stats.stratum("s", values)])) == stats.SignFlip(1.0, 1.0, "exact")


def test_five_wins_of_five_give_a_sixteenth() -> None:
    found = stats.sign_flip(stats.design([stats.stratum("s", [1] * 5)]))
    assert found.p == pytest.approx(1 / 16, rel=1e-14)


def test_fewer_than_six_items_can_never_pass_at_five_percent() -> None:
    for n in range(1, 6):
        assert stats.sign_flip(stats.design([stats.stratum("s", [1] * n)])).p > 0.05


def test_a_margin_shifts_a_cluster_once_per_item() -> None:
    raw: ref.Raw = {"s": [(Fraction(-1, 3), "a"), (Fraction(0), "a"), (Fraction(0), "b"), (Fraction(1), "c")]}
    margin = Fraction(1, 6)
    shifted: ref.Raw = {"s": [(d + margin, c) for d, c in raw["s"]]}
    one = {"s": Fraction(1)}
    assert stats.sign_flip(built(raw, one), margin) == stats.sign_flip(built(shifted, one))
    with pytest.raises(ValueError, match="margin"):
        stats.sign_flip(built(raw, one), Fraction(-1, 6))


values = st.lists(st.fractions(-1, 1, max_denominator=6), min_size=1, max_size=14)
quick = settings(max_examples=40, deadline=None, derandomize=True)


@quick
@given(st.lists(values, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_p_does_not_depend_on_arm_labels_row_order_or_scale(lists: list[list[Fraction]], rng: random.Random) -> None:
    def p(rows: list[list[Fraction]]) -> stats.SignFlip:
        return stats.sign_flip(stats.design(stats.stratum(str(i), xs) for i, xs in enumerate(rows)))

    found = p(lists)
    assert p([[-x for x in xs] for xs in lists]) == found
    assert p([rng.sample(xs, len(xs)) for xs in lists]) == found
    assert p([[x / 3 for x in xs] for xs in lists]) == found
    assert 2.0 * 0.5 ** sum(len(xs) for xs in lists) <= found.p <= 1


def test_under_exchangeable_arms_p_is_below_alpha_at_most_alpha_of_the_time() -> None:
    # All outcomes of eight items whose arms are alike, weighted by their probability: a theorem, exactly.
    chances = {1: Fraction(1, 5), 0: Fraction(3, 5), -1: Fraction(1, 5)}
    by_counts: dict[tuple[int, int], Fraction] = {}
    for wins in range(9):
        for losses in range(9 - wins):
            ways = math.comb(8, wins) * math.comb(8 - wins, losses)
            ties = 8 - wins - losses
            by_counts[wins, losses] = ways * chances[1] ** (wins + losses) * chances[0] ** ties
    rejected = Fraction(0)
    for (wins, losses), chance in by_counts.items():
        one = stats.stratum("s", [1] * wins + [-1] * losses + [0] * (8 - wins - losses))
        if stats.sign_flip(stats.design([one])).p <= 0.05:
            rejected += chance
    assert sum(by_counts.values()) == 1
    assert 0 < rejected <= Fraction(1, 20)
