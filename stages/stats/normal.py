"""How often a design publishes, by a normal model of the whole rule; independent of the exact code.

Per label of the pack, the mean difference is drawn from N(delta, (tau^2 + omega^2 / k) / n + sigma^2 crowd / n), and
its estimated variance is that times chi^2 / (units - 1). Then the rule as it is registered: smallest effect, Student's
interval with Welch and Satterthwaite's degrees of freedom (which the expanded percentile interval equals for normal
differences), the sign-flip test through what it was measured to ask for (`guard_inflation`), agreement of labels and of
weights. `DRAWS` draws come from a counter, so the figures are the same every time: a share of 1/2 is known to .003.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import scipy.special

from stages.stats.mde import POWER, guard_inflation

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
DRAWS = 2**15
_CELLS = 2**21  # most draws times labels that are held at once
_KEY = 2026
_ROUNDING = 1e-12  # a variance below this is none
_NODES = 2049  # of a chi^2 law, between which its quantiles are interpolated, to 1e-5


@dataclass(frozen=True)
class Spread:
    """What makes items differ: `moments(delta)` gives (tau^2, omega^2), `reach` the largest effect of which it does.

    tau^2 is the variance of the items' true effects, omega^2 the variance of one pair's difference about its item's.
    """

    model: str
    moments: Callable[[float], tuple[float, float]]
    reach: float = 1.0


@dataclass(frozen=True)
class Label:
    """One label of the pack: the stratum of the summary that it belongs to, its items and its units (clusters).

    `crowd` is the mean size of the cluster that an item lies in, 1 without clusters.
    """

    stratum: str
    items: int
    units: int
    crowd: float = 1.0


@dataclass(frozen=True)
class Scheme:
    """The registered rule on a design: labels, weights of its strata (summing to 1), alpha that is spent, limits.

    `margin` is None for superiority; for noninferiority the smallest effect doesn't count. `stratum_floor` and `floor`
    are the fewest items of a stratum and of the summary, `proportional` whether weights follow the items: what a design
    of another size keeps to.
    """

    labels: tuple[Label, ...]
    weights: Mapping[str, Fraction]
    alpha: Fraction
    minimum: float
    margin: float | None = None
    stratum_floor: int = 1
    floor: int = 1
    proportional: bool = False

    @property
    def strata(self) -> dict[str, list[int]]:
        """Stratum of the summary to the places of its labels."""
        found: dict[str, list[int]] = {name: [] for name in self.weights}
        for place, label in enumerate(self.labels):
            found[label.stratum].append(place)
        return found

    @property
    def units(self) -> int:
        """Units in the summary."""
        return sum(label.units for label in self.labels)

    @property
    def items(self) -> int:
        """Items in the summary."""
        return sum(label.items for label in self.labels)


@dataclass(frozen=True)
class Power:
    """At one effect: `published` the chance, `wrong` of it in the other direction, and what published effects are.

    `exaggeration` is the mean size of a published difference relative to the effect (Gelman and Carlin 2014), None
    where nothing is published, there is no effect, or noninferiority is claimed. `alone` maps each reason to the chance
    that it alone withholds.
    """

    effect: float
    published: float
    wrong: float
    exaggeration: float | None
    alone: dict[str, float]


def headroom(p: float, icc: float) -> Spread:
    """The moments of `simulate.Population(p, icc)`: effects in proportion to each item's headroom."""

    def moments(delta: float) -> tuple[float, float]:
        rate = p if delta >= 0 else 1 - p  # a loss of q is a gain of 1 - q
        room, square = 1 - rate, (1 - rate) ** 2 + rate * (1 - rate) * icc
        left = 1 - abs(delta) / room
        noise = rate * (1 - rate) * (1 - icc) + left * room - left * left * square
        return delta * delta * icc * rate / room, noise if noise > _ROUNDING else 0.0

    return Spread(f"control passes {p:g}, ICC {icc:g}, effects by headroom", moments, 1 - p)


def closed_form(p: float = 0.5, icc: float = 0.4, tau_ratio: float = 0.6) -> Spread:
    """The moments that `mde80` assumes: omega^2 = 2 p (1 - p) (1 - ICC) at every effect, tau a share of it."""
    noise = 2 * p * (1 - p) * (1 - icc)
    return Spread(
        f"control passes {p:g}, ICC {icc:g}, tau = {tau_ratio:g} |effect|",
        lambda delta: ((tau_ratio * delta) ** 2, noise),
    )


def measured(tau_squared: float, omega_squared: float, where: str) -> Spread:
    """Moments from a pilot, the same at every effect."""
    return Spread(
        f"tau {tau_squared**0.5:.3f}, omega {omega_squared**0.5:.3f} of {where}", lambda _: (tau_squared, omega_squared)
    )


def variance_of(label: Label, k: float, delta: float, spread: Spread, cluster_sd: float = 0.0) -> float:
    """Variance of the mean difference of a label's items, `k` repeats each."""
    tau, noise = spread.moments(delta)
    return (tau + noise / k + cluster_sd * cluster_sd * label.crowd) / label.items


def power(
    scheme: Scheme,
    k: float,
    effects: Sequence[float | Mapping[int, float]],
    spread: Spread,
    cluster_sd: float = 0.0,
) -> list[Power]:
    """How often the rule publishes at each effect (of all labels, or by the label's place in `scheme`).

    Raises ValueError for a stratum of a single unit, which shows no variance, or repeats below 1.
    """
    if k < 1 or min(label.units for label in scheme.labels) < 1:
        raise ValueError(f"repeats and units must be 1 or more: {k}")
    if min(sum(scheme.labels[i].units for i in places) for places in scheme.strata.values()) < 2:
        raise ValueError("a stratum of a single unit shows no variance")
    normals, chis = _draws(tuple(label.units for label in scheme.labels))
    return [_at(scheme, k, effect, spread, cluster_sd, normals, chis) for effect in effects]


@functools.lru_cache(maxsize=2)
def _normals(labels: int, draws: int) -> FloatArray:
    """Normal draws from a counter, shape (2, labels, draws)."""
    raw = np.random.Philox(key=_KEY).random_raw(2 * labels * draws)
    uniform = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    found: FloatArray = scipy.special.ndtri(uniform).reshape(2, labels, draws)
    return found


@functools.lru_cache(maxsize=2)
def _draws(units: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Normal draws and chi^2 / df draws for labels of so many units, each of shape (labels, draws)."""
    normals, seconds = _normals(len(units), min(DRAWS, max(_CELLS // len(units), 2**10)))
    # A chi^2 quantile is smooth in the normal one of the same chance.
    nodes = np.linspace(seconds.min(), seconds.max(), _NODES)
    chance, chis = scipy.special.ndtr(nodes), np.zeros_like(seconds)
    for place, n in enumerate(units):
        if n > 1:
            half = (n - 1) / 2
            chis[place] = np.interp(seconds[place], nodes, scipy.special.gammaincinv(half, chance) / half)
    return normals, chis


def _at(
    scheme: Scheme,
    k: float,
    effect: float | Mapping[int, float],
    spread: Spread,
    cluster_sd: float,
    normals: FloatArray,
    chis: FloatArray,
) -> Power:
    labels = scheme.labels
    effects = [effect[i] if isinstance(effect, Mapping) else effect for i in range(len(labels))]
    true = np.array([variance_of(t, k, d, spread, cluster_sd) for t, d in zip(labels, effects, strict=True)])[:, None]
    means, spreads = np.array(effects)[:, None] + np.sqrt(true) * normals, true * chis
    places = scheme.strata
    strata = {name: _pooled(labels, mine, means, spreads) for name, mine in places.items()}
    n, total = {name: sum(labels[i].items for i in mine) for name, mine in places.items()}, scheme.items
    delta: FloatArray = sum((float(w) * strata[s][0] for s, w in scheme.weights.items()), np.zeros(means.shape[1]))
    equal = sum((mean / len(strata) for mean, _, _ in strata.values()), np.zeros_like(delta))
    sized = sum((n[s] / total * mean for s, (mean, _, _) in strata.items()), np.zeros_like(delta))
    parts = [(float(w) ** 2 * strata[s][1], strata[s][2]) for s, w in scheme.weights.items() if w]
    variance = sum((v for v, _ in parts), np.zeros_like(delta))
    truth = math.fsum(
        float(scheme.weights[s]) * labels[i].items / n[s] * effects[i] for s, mine in places.items() for i in mine
    )
    if true.max() <= 0:  # every data set is alike
        return Power(truth, 0.0, 0.0, None, {"no_variance": 1.0})
    df = variance**2 / sum((v * v / (units - 1) for v, units in parts), np.zeros_like(delta))
    reasons = _reasons(scheme, k, delta, np.sqrt(variance), df, means, equal, sized)
    found = ~np.logical_or.reduce(list(reasons.values()))
    count = np.sum(list(reasons.values()), axis=0)
    share, size = float(found.mean()), float(np.abs(delta[found]).mean()) if found.any() else None
    wrong = float((found & (delta * truth < 0)).mean()) if scheme.margin is None else 0.0
    exaggeration = size / abs(truth) if size and truth and scheme.margin is None else None
    return Power(truth, share, wrong, exaggeration, {r: float((v & (count == 1)).mean()) for r, v in reasons.items()})


def _pooled(
    labels: tuple[Label, ...], mine: list[int], means: FloatArray, spreads: FloatArray
) -> tuple[FloatArray, FloatArray, int]:
    """(mean, estimated variance of the mean, units) of a stratum whose labels are merged."""
    if len(mine) == 1:
        return means[mine[0]], spreads[mine[0]], labels[mine[0]].units
    items, units = sum(labels[i].items for i in mine), sum(labels[i].units for i in mine)
    mean: FloatArray = sum((labels[i].items / items * means[i] for i in mine), np.zeros(means.shape[1]))
    squares = sum(
        (labels[i].units * ((labels[i].units - 1) * spreads[i] + (means[i] - mean) ** 2) for i in mine),
        np.zeros_like(mean),
    )
    return mean, squares / (units - 1) / units, units


def _quantiles(df: FloatArray, tail: float) -> FloatArray:
    """Upper quantiles of Student's t, shape of `df`: smooth in 1 / df, so interpolated there, to 1e-5."""
    inverse = 1 / df
    grid = np.linspace(inverse.min(), inverse.max(), 513)
    found: FloatArray = np.interp(inverse, grid, -scipy.special.stdtrit(1 / grid, tail))
    return found


def _reasons(
    scheme: Scheme,
    k: float,
    delta: FloatArray,
    error: FloatArray,
    df: FloatArray,
    means: FloatArray,
    equal: FloatArray,
    sized: FloatArray,
) -> dict[str, BoolArray]:
    """Which draws each reason withholds, shape (draws,) each."""
    margin = scheme.margin or 0.0
    t = _quantiles(df, float(scheme.alpha / 2))
    # The sign-flip test knows no degrees of freedom, so a small stratum doesn't widen it as it does the interval. An
    # effect must be larger by `guard_inflation` for a power of 80 %: that makes its critical value.
    whole = scheme.units - len(scheme.weights)
    flip = -scipy.special.stdtrit(whole, float(scheme.alpha / 2))
    guard = flip + (guard_inflation(scheme.units, k) - 1) * (flip + scipy.special.stdtrit(whole, POWER))
    far = delta + margin
    inside = np.abs(far) <= t * error if scheme.margin is None else far <= t * error
    if scheme.margin is None:
        sign = np.sign(delta)
        small = np.abs(delta) < scheme.minimum
        against = (-sign * means > scheme.minimum).any(axis=0)
    else:
        small = np.zeros(delta.shape, dtype=np.bool_)
        against = (means < -margin).any(axis=0)
    ends = np.array([far, equal + margin, sized + margin])
    return {
        "below_minimum_detectable_effect": small,
        "interval_crosses_zero": inside,
        "sign_flip_not_significant": np.abs(far) <= guard * error,
        "strata_disagree": against,
        "weights_decide": (ends.min(axis=0) < 0) & (ends.max(axis=0) > 0),
    }
