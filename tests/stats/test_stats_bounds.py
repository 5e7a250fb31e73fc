"""Alpha, placebos, exclusions, detectable effects, and numbers on paper."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.special
import scipy.stats

from stages import stats
from stages.stats.student import t_quantile

ALPHA = Fraction(1, 20)


def test_the_first_look_may_spend_four_fifths_of_alpha() -> None:
    assert stats.alpha_spent(ALPHA, 1, 1) == Fraction(1, 25)
    assert [stats.alpha_look(ALPHA, look) for look in (2, 3, 4)] == [
        Fraction(1, 200),
        Fraction(1, 600),
        Fraction(1, 1200),
    ]


def test_all_looks_together_never_spend_more_than_alpha() -> None:
    spent = sum((stats.alpha_look(ALPHA, look) for look in range(1, 200)), Fraction(0))
    assert spent == ALPHA - ALPHA / 5 / 199


def test_a_family_shares_what_a_look_may_spend() -> None:
    assert stats.alpha_spent(ALPHA, 2, 10) == Fraction(1, 2000)
    for alpha, look, family in ((ALPHA, 0, 1), (ALPHA, 1, 0), (Fraction(1), 1, 1), (Fraction(0), 1, 1)):
        with pytest.raises(ValueError):
            stats.alpha_spent(alpha, look, family)


def test_six_placebos_bound_false_passes_at_39_percent_and_24_at_12() -> None:
    assert round(stats.placebo_bound(6), 2) == 0.39
    assert round(stats.placebo_bound(24), 2) == 0.12
    for trials in (1, 6, 24, 500):
        assert stats.placebo_bound(trials) == pytest.approx(1 - 0.05 ** (1 / trials), rel=1e-12)


def test_no_placebo_bounds_nothing() -> None:
    assert stats.placebo_bound(0) == 1.0
    assert stats.placebo_bound(3, passed=3) == 1.0
    with pytest.raises(ValueError):
        stats.placebo_bound(3, passed=4)


def test_the_placebo_bound_is_clopper_and_pearsons() -> None:
    expected = scipy.stats.binomtest(3, 30, alternative="less").proportion_ci(0.95, method="exact").high
    assert stats.placebo_bound(30, passed=3) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("excluded", "planned"),
    [((8, 1), (150, 150)), ((3, 0), (60, 60)), ((12, 5), (200, 180)), ((0, 9), (40, 70))],
)
def test_asymmetry_of_exclusions_is_fishers_exact_test(excluded: tuple[int, int], planned: tuple[int, int]) -> None:
    table = np.array([[e, n - e] for e, n in zip(excluded, planned, strict=True)])
    found = stats.exclusion_asymmetry(excluded, planned)
    assert found.p == pytest.approx(scipy.stats.fisher_exact(table).pvalue, rel=1e-9)


def test_seven_exclusions_could_never_fire_the_asymmetry_rule_and_eight_could() -> None:
    # By hand: all of m exclusions in one of two equal large arms has p of nearly 2 / 2^m: 1/64, then 1/128.
    assert not stats.exclusion_asymmetry((7, 0), (10_000, 10_000)).could_fire
    assert stats.exclusion_asymmetry((4, 4), (10_000, 10_000)).could_fire


def test_no_exclusion_is_no_asymmetry() -> None:
    assert stats.exclusion_asymmetry((0, 0), (30, 30)) == stats.exclusion_asymmetry((0, 0), (0, 0))
    assert stats.exclusion_asymmetry((0, 0), (30, 30)).p == 1.0
    assert stats.exclusion_asymmetry((30, 30), (30, 30)).p == 1.0
    with pytest.raises(ValueError):
        stats.exclusion_asymmetry((31, 0), (30, 30))


def items_for(delta: float, k: int) -> int:
    """Fewest items of one stratum whose MDE80, without the guard's inflation, is `delta` or less."""
    n = 5
    while True:
        found = stats.mde80([n], [Fraction(1)], k, ALPHA)
        if found is not None and found / stats.guard_inflation(n, k) <= delta:
            return n
        n += 1


def test_the_closed_form_asks_for_241_84_52_29_items_at_ten_points() -> None:
    assert [items_for(0.1, k) for k in (1, 3, 5, 10)] == pytest.approx([241, 84, 52, 29], abs=1)


def test_36_items_of_3_repeats_detect_16_points_at_best() -> None:
    found = stats.mde80([36], [Fraction(1)], 3, ALPHA)
    assert found is not None
    assert round(found / stats.guard_inflation(36, 3), 2) == 0.16


def test_mde80_solves_its_own_equation() -> None:
    sizes, weights, k, alpha = (
        [30, 12, 25],
        [Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)],
        4,
        Fraction(1, 25),
    )
    found = stats.mde80(sizes, weights, k, alpha, p=0.3, icc=0.2, tau_ratio=0.5)
    assert found is not None
    delta = found / stats.guard_inflation(sum(sizes), k)
    noise = 2 * 0.3 * 0.7 * 0.8 / k + (0.5 * delta) ** 2
    parts = [float(w) ** 2 * noise / n for w, n in zip(weights, sizes, strict=True)]
    df = sum(parts) ** 2 / sum(v * v / (n - 1) for v, n in zip(parts, sizes, strict=True))
    t = scipy.stats.t.ppf(0.98, df) + scipy.stats.t.ppf(0.8, df)
    assert delta == pytest.approx(t * math.sqrt(sum(parts)), rel=1e-5)


def test_the_observed_mde80_has_the_observed_variance_in_it() -> None:
    t = scipy.stats.t.ppf(0.975, 40) + scipy.stats.t.ppf(0.8, 40)
    found = stats.mde80_observed(Fraction(1, 900), Fraction(40), 50, 5, ALPHA)
    assert found == pytest.approx(1.03 * t / 30, rel=1e-5)
    with pytest.raises(ValueError):
        stats.mde80_observed(Fraction(0), Fraction(40), 50, 5, ALPHA)


def test_a_design_that_detects_nothing_has_no_mde80() -> None:
    assert stats.mde80([3], [Fraction(1)], 1, ALPHA) is None
    assert stats.mde80([1], [Fraction(1)], 5, ALPHA) is None
    assert stats.mde80_observed(Fraction(1), Fraction(40), 50, 5, ALPHA) is None


def test_the_guard_inflates_as_measured_and_less_with_more_items_or_repeats() -> None:
    assert stats.guard_inflation(20, 1) == pytest.approx(1.15)
    assert stats.guard_inflation(50, 1) == pytest.approx(1.09)
    assert stats.guard_inflation(20, 5) == stats.guard_inflation(9, 12) == pytest.approx(1.03)
    grid = np.array([[stats.guard_inflation(n, k) for k in (1, 2, 3, 4, 5, 8)] for n in (8, 20, 35, 50, 400)])
    assert (np.diff(grid, axis=0) <= 1e-12).all()
    assert (np.diff(grid, axis=1) <= 1e-12).all()
    assert grid.min() == pytest.approx(1.03)


def test_numbers_on_paper_have_six_digits_and_no_negative_zero() -> None:
    assert stats.sig6(Fraction(1, 3)) == 0.333333
    assert stats.sig6(1234567.8) == 1234570.0
    assert math.copysign(1, stats.sig6(-0.0)) == 1
    assert stats.show_p(9.9e-13) == "<1e-12"
    assert stats.show_p(0.0123456789) == "0.0123457"
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError):
            stats.sig6(bad)


def test_weights_proportional_to_sizes_sum_to_one() -> None:
    assert stats.proportional_weights({"a": 1, "b": 2}) == {"a": Fraction(1, 3), "b": Fraction(2, 3)}
    with pytest.raises(ValueError):
        stats.proportional_weights({"a": 0})


def test_clusters_add_their_own_variance_and_take_degrees_of_freedom() -> None:
    """One stratum, solved by hand: delta^2 (1 - q^2 tau^2 / n) = q^2 (omega^2 / k + sd^2 crowd) / n, units for df."""
    n, units, crowd, k, alpha = 60, 15, 4.0, 3, Fraction(1, 25)
    found = stats.mde80([n], [Fraction(1)], k, alpha, units=[units], crowds=[crowd])
    q = scipy.stats.t.ppf(0.98, units - 1) + scipy.stats.t.ppf(0.8, units - 1)
    noise = 2 * 0.5 * 0.5 * 0.6 / k + 0.2**2 * crowd
    expected = stats.guard_inflation(units, k) * q * math.sqrt(noise / n / (1 - q * q * 0.36 / n))
    assert found == pytest.approx(expected, rel=1e-5)
    assert stats.mde80([n], [Fraction(1)], k, alpha, units=[1], crowds=[60.0]) is None
    assert stats.mde80([n], [Fraction(1)], k, alpha, units=[n], crowds=[1.0]) == stats.mde80(
        [n], [Fraction(1)], k, alpha
    )


@pytest.mark.parametrize("p", [1e-6, 0.004, 0.02, 0.3, 0.8, 0.98])
def test_a_quantile_of_t_is_the_same_where_scipy_stops_two_billionths_short(
    p: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closed forms for 1 and 2 degrees of freedom; older SciPy's own quantile is off by up to 2.4e-9 of itself."""
    real = scipy.special.stdtrit
    monkeypatch.setattr(scipy.special, "stdtrit", lambda df, q: real(df, q) * (1 + 2.4e-9))
    cauchy, two = -1 / math.tan(math.pi * p), (2 * p - 1) / math.sqrt(2 * p * (1 - p))
    assert t_quantile(1.0, p) == pytest.approx(cauchy, rel=1e-12)
    assert t_quantile(2.0, p) == pytest.approx(two, rel=1e-12)
