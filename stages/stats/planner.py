"""What a design needs: the smallest effect that it publishes, items, repeats, the repeats that a budget buys best.

All of them follow from the chance that the rule publishes (`Chance`), whoever gives it: the normal model, or a
simulation. `detectable` alone is a closed form, on `SE^2 = sum w^2 (tau^2 + omega^2 / k) / n`; see `mde`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.special

from stages.stats.fmt import sig6
from stages.stats.mde import POWER, SIMULATE_BELOW, both_quantiles, guard_inflation
from stages.stats.normal import Label, Scheme, Spread, power, variance_of
from stages.stats.simulate import Population, moved, rate_quantiles

MOST_ITEMS = 100_000
MOST_REPEATS = 1_000
DISCORDANT = 16  # units that are expected to differ; measured, see `simulate_why`
_GRID = 400
_SCAN = 40
_MANY = 1e12  # repeats
_TERMS = 64  # repeats of which the law of an item's passes is summed

Chance = Callable[[Scheme, float, Sequence[float]], list[float]]
"""(design, repeats, effects) to the chance that each is published."""


@dataclass(frozen=True)
class Needed:
    """How many are needed, and the design with as many; None and a reason where no number would do."""

    count: int | None
    why: str | None
    scheme: Scheme | None = None


@dataclass(frozen=True)
class Smallest:
    """The smallest distance from zero (or minus the margin) that is published often enough; None and a reason."""

    effect: float | None
    why: str | None


def by_normal_model(spread: Spread, cluster_sd: float = 0.0) -> Chance:
    """The chance of publishing, by the normal model."""
    return lambda scheme, k, effects: [one.published for one in power(scheme, k, effects, spread, cluster_sd)]


def smallest_effect(scheme: Scheme, k: float, chance: Chance, top: float, target: float = POWER) -> Smallest:
    """The smallest effect upwards, of at most `top` from zero or minus the margin, published with chance `target`.

    Looked for along the whole way, since the chance need not grow with the effect.
    """
    base = -(scheme.margin or 0.0)
    steps = [top * step / _SCAN for step in range(1, _SCAN + 1)]
    seen = chance(scheme, k, [base + step for step in steps])
    place = next((i for i, found in enumerate(seen) if found >= target), None)
    if place is None:
        best = max(range(len(seen)), key=lambda i: seen[i])
        return Smallest(None, f"at most {100 * seen[best]:.0f} %, at {base + steps[best]:+.3g}")
    low, high = (steps[place - 1], seen[place - 1]) if place else (0.0, 0.0), (steps[place], seen[place])
    for _ in range(12):
        if high[1] - target < 1e-4 or high[0] - low[0] < 1e-6:
            break
        at = low[0] + (high[0] - low[0]) * _between(low[1], high[1], target)
        (found,) = chance(scheme, k, [base + at])
        low, high = (low, (at, found)) if found >= target else ((at, found), high)
    return Smallest(sig6(high[0]), None)


def items_needed(scheme: Scheme, k: float, effect: float, chance: Chance, target: float = POWER) -> Needed:
    """Fewest items, labels in the design's shares and floors kept, with which `effect` is published often enough."""
    why = _hopeless(scheme, effect)
    if why:
        return Needed(None, why)
    made = {}

    def chance_of(n: int) -> float:
        made[n] = scaled(scheme, n)
        return chance(made[n], k, [effect])[0]

    count = _fewest(chance_of, scheme.items, MOST_ITEMS, target)
    if count is None:
        return Needed(None, f"more than {MOST_ITEMS:,} items")
    return Needed(made[count].items, None, made[count])


def repeats_needed(scheme: Scheme, effect: float, chance: Chance, target: float = POWER) -> Needed:
    """Fewest repeats with which the design's own items publish `effect` often enough."""
    why = _hopeless(scheme, effect)
    if why:
        return Needed(None, why)
    if _df(scheme) is None:
        return Needed(None, "a stratum of a single unit shows no variance")
    if chance(scheme, _MANY, [effect])[0] < target:
        return Needed(None, "items differ too much: no number of repeats makes up for more items")
    count = _fewest(lambda k: chance(scheme, k, [effect])[0], 3, MOST_REPEATS, target)
    return Needed(count, None, scheme) if count else Needed(None, f"more than {MOST_REPEATS:,} repeats")


def detectable(scheme: Scheme, k: float, spread: Spread, cluster_sd: float = 0.0, guard: bool = True) -> float | None:
    """MDE80 of a design for any spread, six significant digits; that of `mde80` for its `closed_form`.

    Smallest delta with `delta = (t_{df, 1 - alpha/2} + t_{df, .80}) SE(delta)`, times the guard's inflation; measured
    from minus the margin for noninferiority. None if no effect that the spread knows reaches it.
    """
    if _df(scheme) is None:
        return None
    inflation, low = guard_inflation(scheme.units, k) if guard else 1.0, 0.0
    for step in range(1, _GRID + 1):
        high = spread.reach * step / _GRID
        if _seen(scheme, k, high, 1, spread, cluster_sd):
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (low, middle) if _seen(scheme, k, middle, 1, spread, cluster_sd) else (middle, high)
            return sig6(inflation * high) if inflation * high <= spread.reach else None
        low = high
    return None


def best_repeats(effect: float, spread: Spread, cost_ratio: float) -> int | None:
    """Repeats that buy the smallest error for a budget, `cost_ratio` = cost of an item / cost of a trial.

    Upwards of it repeats are never worth it; floors that ask for more items than this takes make fewer repeats best.
    An item costs `c_item + 2 k c_trial` and gives a variance of `tau^2 + omega^2 / k`: the product is least at
    `k* = sqrt(omega^2 c_item / (2 tau^2 c_trial))`; the better whole neighbour of it. None if items don't differ:
    one item with all the repeats would be best. Raises ValueError for a negative cost.
    """
    if cost_ratio < 0:
        raise ValueError(f"a cost ratio isn't negative: {cost_ratio}")
    tau, noise = spread.moments(effect)
    if tau <= 0:
        return None
    star = math.sqrt(noise * cost_ratio / (2 * tau))
    near = (max(1, math.floor(star)), max(1, math.ceil(star)))
    return min(near, key=lambda k: (cost_ratio + 2 * k) * (tau + noise / k))


def effective_units(scheme: Scheme) -> float:
    """Units of equal strata that would give the same degrees of freedom: a small stratum of large weight lowers it.

    Below `mde.SIMULATE_BELOW` the normal model is a guess (5, 45 and 100 items with equal weights, 8 effective units:
    up to 7 points of power below simulation), so simulate. 0 if a stratum has a single unit.
    """
    df = _df(scheme)
    return 0.0 if df is None else round(df + sum(1 for w in scheme.weights.values() if w), 9)


def _df(scheme: Scheme) -> float | None:
    """Degrees of freedom with equal variances in all strata; None if a stratum has a single unit."""
    units = {name: sum(scheme.labels[i].units for i in mine) for name, mine in scheme.strata.items()}
    parts = [(float(w) ** 2 / units[s], units[s]) for s, w in scheme.weights.items() if w]
    if min(n for _, n in parts) < 2:
        return None
    return math.fsum(v for v, _ in parts) ** 2 / math.fsum(v * v / (n - 1) for v, n in parts)


def discordant_units(scheme: Scheme, k: int, effect: float, population: Population) -> float:
    """Units that are expected to differ between the arms at all, clusters' own effects left aside.

    Of more than 64 repeats, 64 are looked at.
    """
    rates, chance = rate_quantiles(population)
    moves = moved(rates, effect, population.p).clip(0, 1)
    repeats = min(int(k), _TERMS)
    x = np.arange(repeats + 1)[:, None]
    ways = scipy.special.binom(repeats, x)
    laws = [ways * r**x * (1 - r) ** (repeats - x) for r in (rates, moves)]
    alike = min(float(chance @ (laws[0] * laws[1]).sum(axis=0)), 1.0)
    return math.fsum(t.units * (1 - alike ** (t.items / t.units)) for t in scheme.labels)


def simulate_why(scheme: Scheme, k: int, effects: Sequence[float], population: Population) -> str | None:
    """Why the normal model is a guess for this design at one of these effects, None where it isn't.

    Too few units that count: `effective_units`. Too few that differ: measured on 199 designs of 24 to 200 items, 1 to 5
    repeats, rates from .03 to .95 and ICC from .1 to .7, with 500 data sets each. From 16 discordant units on the model
    was off by no more than those data sets are (2 points, root mean square); below 16 by up to 9, below 6 by up to 15.
    """
    units = effective_units(scheme)
    if units < SIMULATE_BELOW:
        return f"only {units:.3g} units count, fewer than {SIMULATE_BELOW}"
    differ, at = min((discordant_units(scheme, k, effect, population), effect) for effect in effects)
    if differ < DISCORDANT:
        return f"at {at:+.3g} only {differ:.1f} units are expected to differ, fewer than {DISCORDANT}"
    return None


def scaled(scheme: Scheme, n: int) -> Scheme:
    """The design with `n` items or a few more, labels in the same shares, clusters of the same sizes.

    No stratum falls below its floor or two units, nor all of them below theirs.
    """
    n = max(n, scheme.floor)
    items = [-(-n * t.items // scheme.items) for t in scheme.labels]
    for places in scheme.strata.values():
        own, units = (sum(getattr(scheme.labels[i], of) for i in places) for of in ("items", "units"))
        least = max(scheme.stratum_floor, own // units + 1)
        if sum(items[i] for i in places) < least:
            for i in places:
                items[i] = -(-least * scheme.labels[i].items // own)
    labels = tuple(
        Label(t.stratum, m, min(m, -(-m * t.units // t.items)), min(t.crowd, m))
        for t, m in zip(scheme.labels, items, strict=True)
    )
    weights = scheme.weights
    if scheme.proportional:
        weights = {name: Fraction(sum(items[i] for i in places), sum(items)) for name, places in scheme.strata.items()}
    return dataclasses.replace(scheme, labels=labels, weights=weights)


def _hopeless(scheme: Scheme, effect: float) -> str | None:
    """Why no items and no repeats would publish an effect four times in five."""
    if scheme.margin is not None:
        return None if effect + scheme.margin > 0 else "there is nothing to show at minus the margin, or below"
    if not effect:
        return "there is nothing to find at 0"
    if abs(effect) <= scheme.minimum:
        return "not above the registered minimum, so published at most half of the time by however many"
    return None


def _seen(scheme: Scheme, k: float, distance: float, sign: int, spread: Spread, cluster_sd: float) -> bool:
    """Whether an effect at this distance is detected 80 % of the time, without the guard."""
    df, total = _df(scheme), 0.0
    if df is None:
        return False
    at = sign * distance if scheme.margin is None else distance - scheme.margin
    for name, places in scheme.strata.items():
        mine, weight = [scheme.labels[i] for i in places], scheme.weights[name]
        items = sum(t.items for t in mine)
        total += float(weight) ** 2 * math.fsum(
            (t.items / items) ** 2 * variance_of(t, k, at, spread, cluster_sd) for t in mine
        )
    return both_quantiles(df, scheme.alpha) * math.sqrt(total) <= distance


def shifted(target: float, seen: float, modelled: float) -> float:
    """What a model has to say for a chance of `target`, if it says `modelled` where the chance is `seen`.

    As if it erred by the same number of standard normal scores everywhere.
    """
    scores = scipy.special.ndtri(np.clip([target, seen, modelled], 1e-3, 1 - 1e-3))
    return float(scipy.special.ndtr(scores[0] + scores[2] - scores[1]))


def _between(low: float, high: float, target: float) -> float:
    """Where between two chances the target lies, as a share of the way: their normal scores are nearly straight."""
    scores = scipy.special.ndtri(np.clip([low, high, target], 1e-4, 1 - 1e-4))
    share = float((scores[2] - scores[0]) / (scores[1] - scores[0])) if scores[1] > scores[0] else 0.5
    return min(max(share, 0.02), 0.98)


def _fewest(chance_of: Callable[[int], float], start: int, most: int, target: float) -> int | None:
    """Smallest number from 1 to `most` whose chance reaches the target, for a chance that grows; to 1 in 200."""
    low, high, at = (0, 0.0), (most + 1, 1.0), min(start, most)
    unknown = True  # no number that is enough was seen yet
    while high[0] - low[0] > max(1, 0 if unknown else high[0] // 200):
        found = chance_of(at)
        if found >= target:
            high, unknown = (at, found), False
        else:
            low = (at, found)
        if unknown:
            at = min(2 * at, most)
            if low[0] == most:
                return None
            continue
        ends = math.sqrt(low[0]), math.sqrt(high[0])
        if not low[0]:
            guess = high[0] // 2
        else:
            guess = math.ceil((ends[0] + (ends[1] - ends[0]) * _between(low[1], high[1], target)) ** 2)
        at = min(max(guess, low[0] + 1), high[0] - 1)
    return high[0]
