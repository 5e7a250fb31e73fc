"""Trials of a made-up study, drawn so that their mean difference is known exactly.

The control passes item `i` with probability `p_i`, Beta with mean `p` and intraclass correlation `icc`
(`a + b = 1 / icc - 1`). The candidate's moves by the item's headroom: `p_i + delta (1 - p_i) / (1 - p)` upwards,
`p_i + delta p_i / p` downwards. So the mean effect is `delta`, no rate leaves [0, 1], and the true effects have
the standard deviation `delta sqrt(icc p / (1 - p))` upwards, .63 `delta` at p = .5 and icc = .4.

Clusters and items may favour an arm: half of the effect is added to one arm and half taken from the other, the
arm by a fair coin, in proportion to the room `min(rate, 1 - rate)` that both arms leave. The mean stays where it
was, and at `delta = 0` the arms are exchangeable cluster by cluster.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.special

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
GRID = 4096  # quantiles of the rates over which a mean is taken


@dataclass(frozen=True, slots=True)
class Population:
    """What items are drawn from: the control's mean rate, its intraclass correlation, and effects of mean 0.

    `cluster_sd` and `item_sd` are the standard deviations of what a cluster, or an item alone, adds to the
    difference of its items. Raises ValueError for parameters out of range.
    """

    p: float = 0.5
    icc: float = 0.4
    cluster_sd: float = 0.0
    item_sd: float = 0.0

    def __post_init__(self) -> None:
        if not (0 < self.p < 1 and 0 <= self.icc <= 1):
            raise ValueError(f"a rate between 0 and 1 and a correlation from 0 to 1: {self.p:g}, {self.icc:g}")
        if not (0 <= self.cluster_sd <= 1 and 0 <= self.item_sd <= 1):
            raise ValueError(f"standard deviations from 0 to 1: {self.cluster_sd:g}, {self.item_sd:g}")

    def reach(self, delta: float) -> float:
        """How many times its room an item is moved per unit of standard deviation. Raises as `check_effect`."""
        most = self.most_sd(delta)
        if self.cluster_sd + self.item_sd > most:
            raise ValueError(
                f"effects of sd {self.cluster_sd + self.item_sd:g} can't be drawn at an effect of {delta:+g}: "
                f"the rates leave room for {most:.3f}"
            )
        return 2 / most if most else 0.0

    def most_sd(self, delta: float) -> float:
        """The largest sd of clusters' and items' own effects that there is room for. Raises as `check_effect`."""
        self.check_effect(delta)
        return 2 * _mean_room(self.p, self.icc, delta)

    def check_effect(self, delta: float) -> None:
        """Raise ValueError for an effect that no rates from 0 to 1 can have."""
        if not -self.p <= delta <= 1 - self.p:
            raise ValueError(
                f"an effect of {delta:+g} can't be drawn: with a control that passes {self.p:g}, effects lie "
                f"between {-self.p:+g} and {1 - self.p:+g}"
            )


@dataclass(frozen=True, slots=True)
class Layout:
    """Stratum and cluster of every item; an item without a cluster (None) stands alone."""

    strata: tuple[str, ...]
    clusters: tuple[str | None, ...]

    def __post_init__(self) -> None:
        if not self.strata or len(self.strata) != len(self.clusters):
            raise ValueError("a layout needs at least one item, and a cluster or None for each")


@dataclass(frozen=True, slots=True)
class Drawn:
    """Outcomes 0 or 1 of both arms, shape (items, repeats), in the order of the layout's items."""

    candidate: IntArray
    control: IntArray


def layout_of(sizes: Mapping[str, int], cluster_size: int = 1) -> Layout:
    """Strata of these sizes, their items in clusters of `cluster_size` (the last of a stratum may be smaller).

    Raises ValueError for no items, or a size below 1.
    """
    if not sizes or min(sizes.values()) < 1 or cluster_size < 1:
        raise ValueError(f"sizes and clusters of at least 1: {dict(sizes)}, {cluster_size}")
    items = [(name, i) for name, size in sorted(sizes.items()) for i in range(size)]
    clusters = tuple(f"{name}/{i // cluster_size}" if cluster_size > 1 else None for name, i in items)
    return Layout(tuple(name for name, _ in items), clusters)


def dataset_rng(seed: int, number: int, scenario: int = 0) -> np.random.Generator:
    """The generator of one data set: by its number alone, whichever process draws it."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(scenario, number)))


def draw_rates(
    layout: Layout, effects: float | Mapping[str, float], population: Population, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """(candidate's, control's) true rates per item, each of shape (items,).

    `effects` is the mean difference, or one per stratum. Raises ValueError for an effect that can't be drawn,
    or a mapping that doesn't name every stratum.
    """
    given = effects if isinstance(effects, Mapping) else dict.fromkeys(layout.strata, effects)
    if set(given) != set(layout.strata):
        raise ValueError(f"effects of {sorted(given)}, strata {sorted(set(layout.strata))}")
    reach = {delta: population.reach(delta) for delta in set(given.values())}
    delta = np.array([given[name] for name in layout.strata], dtype=np.float64)
    control = _rates(population, delta.size, rng)
    candidate = moved(control, delta, population.p)
    room = _room(candidate, control) * np.array([reach[given[name]] for name in layout.strata])
    names = {name: i for i, name in enumerate(dict.fromkeys(c for c in layout.clusters if c is not None))}
    flips = 1 - 2 * rng.integers(0, 2, size=len(names) + 1)
    own = np.array([len(names) if c is None else names[c] for c in layout.clusters])
    alone = 1 - 2 * rng.integers(0, 2, size=delta.size)
    # An item without a cluster is a cluster of its own.
    clustered = np.where(own == len(names), 1 - 2 * rng.integers(0, 2, size=delta.size), flips[own])
    half = room * (population.cluster_sd * clustered + population.item_sd * alone) / 2
    return np.clip(candidate + half, 0, 1), np.clip(control - half, 0, 1)


def draw(
    layout: Layout,
    repeats: int,
    effects: float | Mapping[str, float],
    population: Population,
    rng: np.random.Generator,
) -> Drawn:
    """One data set. Raises ValueError as `draw_rates` does."""
    candidate, control = draw_rates(layout, effects, population, rng)
    lots = rng.random((2, control.size, repeats))
    return Drawn((lots[0] < candidate[:, None]).astype(np.int64), (lots[1] < control[:, None]).astype(np.int64))


def moved(control: FloatArray, delta: FloatArray | float, p: float) -> FloatArray:
    """The candidate's rates: the control's, moved by `delta` on average, shape of `control`."""
    up = control + delta * (1 - control) / (1 - p)
    result: FloatArray = np.where(np.asarray(delta) >= 0, up, control + delta * control / p)
    return result


def _rates(population: Population, n: int, rng: np.random.Generator) -> FloatArray:
    p, icc = population.p, population.icc
    if icc == 0:
        return np.full(n, p)
    if icc == 1:
        return (rng.random(n) < p).astype(np.float64)
    total = 1 / icc - 1
    return rng.beta(p * total, (1 - p) * total, size=n)


def _room(candidate: FloatArray, control: FloatArray) -> FloatArray:
    """How far both arms' rates may move either way, shape of both."""
    room: FloatArray = np.minimum(np.minimum(candidate, 1 - candidate), np.minimum(control, 1 - control))
    return np.maximum(room, 0)


@functools.cache
def _mean_room(p: float, icc: float, delta: float) -> float:
    """Mean of `_room` over the population."""
    rates, chance = rate_quantiles(Population(p, icc))
    return float(chance @ _room(moved(rates, delta, p), rates))


def rate_quantiles(population: Population) -> tuple[FloatArray, FloatArray]:
    """(control's rates, their chances), each of shape (rates,): quantiles that a mean may be taken over."""
    p, icc = population.p, population.icc
    if icc == 0:
        return np.array([p]), np.array([1.0])
    if icc == 1:
        return np.array([0.0, 1.0]), np.array([1 - p, p])
    total = 1 / icc - 1
    rates: FloatArray = scipy.special.betaincinv(p * total, (1 - p) * total, (np.arange(GRID) + 0.5) / GRID)
    return rates, np.full(GRID, 1 / GRID)
