"""Simulated trials: means that are exact, spread that is known in closed form, nulls that are null."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from stages import stats
from stages.stats import Population, dataset_rng, draw, draw_rates, layout_of

ITEMS = 60_000


def effects_of(delta: float | dict[str, float], population: Population, cluster: int = 1) -> np.ndarray:
    layout = layout_of({"a": ITEMS // 2, "b": ITEMS // 2}, cluster)
    candidate, control = draw_rates(layout, delta, population, dataset_rng(7, 0))
    assert min(candidate.min(), control.min()) >= 0
    assert max(candidate.max(), control.max()) <= 1
    return candidate - control


def close(values: np.ndarray, mean: float, units: int | None = None) -> bool:
    """Whether a mean is right to within four standard errors."""
    return bool(abs(values.mean() - mean) <= 4 * values.std() / math.sqrt(units or values.size) + 1e-12)


@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("icc", [0.0, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("share", [-1.0, -0.4, 0.0, 0.3, 1.0])
def test_the_mean_effect_is_the_effect_and_its_spread_the_headrooms(p: float, icc: float, share: float) -> None:
    delta = share * (1 - p if share > 0 else p)
    found = effects_of(delta, Population(p=p, icc=icc))
    assert close(found, delta)
    # By hand: sd of a Beta mean p with this correlation is sqrt(p (1 - p) icc); headroom has mean 1 - p (or p).
    sd = abs(delta) * math.sqrt(icc * (p / (1 - p) if delta > 0 else (1 - p) / p))
    assert found.std() == pytest.approx(sd, rel=0.03, abs=1e-9)


def test_true_effects_differ_by_063_of_the_effect_at_the_defaults() -> None:
    assert effects_of(0.2, Population()).std() / 0.2 == pytest.approx(0.632, rel=0.02)


def test_outcomes_of_an_arm_are_beta_binomial() -> None:
    drawn = draw(layout_of({"a": ITEMS}), 4, 0.0, Population(p=0.3, icc=0.25), dataset_rng(3, 1))
    for arm in (drawn.candidate, drawn.control):
        seen = np.bincount(arm.sum(axis=1), minlength=5)
        law = scipy.stats.betabinom(4, 0.3 * 3, 0.7 * 3)
        assert scipy.stats.chisquare(seen, ITEMS * law.pmf(np.arange(5))).pvalue > 1e-4


@pytest.mark.parametrize(("p", "icc", "delta"), [(0.5, 0.4, 0.2), (0.5, 0.4, -0.2), (0.2, 0.1, 0.5), (0.7, 0.6, -0.3)])
def test_the_planners_moments_are_those_of_the_draws(p: float, icc: float, delta: float) -> None:
    tau, noise = stats.headroom(p, icc).moments(delta)
    drawn = draw(layout_of({"a": ITEMS}), 3, delta, Population(p=p, icc=icc), dataset_rng(11, 2))
    d = (drawn.candidate - drawn.control).mean(axis=1)
    assert d.var() == pytest.approx(tau + noise / 3, rel=0.03)
    rates = draw_rates(layout_of({"a": ITEMS}), delta, Population(p=p, icc=icc), dataset_rng(11, 2))
    assert sum((r * (1 - r)).mean() for r in rates) == pytest.approx(noise, rel=0.03)


def test_effects_may_differ_by_stratum() -> None:
    found = effects_of({"a": 0.2, "b": -0.1}, Population())
    assert close(found[: ITEMS // 2], 0.2)
    assert close(found[ITEMS // 2 :], -0.1)
    with pytest.raises(ValueError, match="effects of"):
        effects_of({"a": 0.2}, Population())


@pytest.mark.parametrize("delta", [0.0, 0.2, -0.15])
def test_clusters_move_together_and_leave_the_mean_where_it_was(delta: float) -> None:
    population, m = Population(cluster_sd=0.2), 20
    found = effects_of(delta, population, m).reshape(-1, m)
    assert close(found.mean(axis=1), delta)
    # Covariance of two items of a cluster is the variance of what the cluster adds.
    centred = found - delta
    pairs = (centred.sum(axis=1) ** 2 - (centred**2).sum(axis=1)) / (m * (m - 1))
    assert pairs.mean() == pytest.approx(0.04, rel=0.06)


@pytest.mark.parametrize("kind", [{"cluster_sd": 0.3}, {"item_sd": 0.3}, {"cluster_sd": 0.1, "item_sd": 0.2}])
def test_arms_stay_exchangeable_under_the_null(kind: dict[str, float]) -> None:
    drawn = draw(layout_of({"a": ITEMS}, 4), 3, 0.0, Population(**kind), dataset_rng(5, 0))
    d = (drawn.candidate - drawn.control).sum(axis=1).reshape(-1, 4).sum(axis=1)
    ahead, behind = np.bincount(d[d > 0], minlength=13), np.bincount(-d[d < 0], minlength=13)
    used = ahead + behind >= 20
    z = (ahead - behind)[used] / np.sqrt((ahead + behind)[used])
    assert np.abs(z).max() < 4


def test_item_effects_spread_differences_beyond_noise() -> None:
    assert effects_of(0.0, Population()).std() == 0
    assert effects_of(0.0, Population(item_sd=0.2)).std() > 0.2


@pytest.mark.parametrize(
    ("population", "delta", "words"),
    [
        (Population(), 0.51, "between -0.5 and"),
        (Population(p=0.9), 0.2, "between -0.9 and"),
        (Population(p=0.1), -0.2, "can't be drawn"),
        (Population(cluster_sd=0.6), 0.0, "leave room for"),
        (Population(cluster_sd=0.2), 0.49, "leave room for"),
        (Population(icc=1.0, item_sd=0.1), 0.0, "leave room for"),
    ],
)
def test_what_no_rates_can_have_is_refused(population: Population, delta: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        effects_of(delta, population)


@pytest.mark.parametrize(
    "wrong", [{"p": 0.0}, {"p": 1.0}, {"icc": -0.1}, {"icc": 1.1}, {"cluster_sd": -1}, {"p": math.nan}]
)
def test_a_population_that_isnt_one_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        Population(**wrong)


def test_a_layout_needs_items() -> None:
    for sizes, cluster in (({}, 1), ({"a": 0}, 1), ({"a": 3}, 0)):
        with pytest.raises(ValueError):
            layout_of(sizes, cluster)
    assert layout_of({"b": 3, "a": 1}, 2).clusters == ("a/0", "b/0", "b/0", "b/1")


def test_a_data_set_is_drawn_from_seed_and_number_alone() -> None:
    layout, population = layout_of({"a": 30}), Population(cluster_sd=0.1)
    one, again, other, second = (
        draw(layout, 2, 0.1, population, dataset_rng(*key)).candidate for key in ((4, 9), (4, 9), (4, 10), (5, 9))
    )
    assert (one == again).all()
    assert (one != other).any()
    assert (one != second).any()
