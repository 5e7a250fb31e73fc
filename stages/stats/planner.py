"""What a design needs: the smallest detectable effect, items, repeats, and the repeats that a budget buys best.

Closed forms on `SE^2 = sum w^2 (tau^2 + omega^2 / k) / n`; see `mde` for the model and the guard's inflation.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

from stages.stats.fmt import sig6
from stages.stats.mde import both_quantiles, guard_inflation
from stages.stats.normal import Label, Scheme, Spread, variance_of

MOST_ITEMS = 1_000_000
MOST_REPEATS = 1_000
_GRID = 400


@dataclass(frozen=True)
class Needed:
    """How many are needed; None and a reason where no number would do."""

    count: int | None
    why: str | None


_NOTHING = Needed(None, "there is nothing to detect at this effect")


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


def items_needed(
    scheme: Scheme, k: float, effect: float, spread: Spread, cluster_sd: float = 0.0, guard: bool = True
) -> Needed:
    """Fewest items, in the shares of the design's labels, that detect `effect` 80 % of the time."""

    def enough(n: int) -> bool:
        return _detects(_scaled(scheme, n), k, effect, spread, cluster_sd, guard)

    if _distance(scheme, effect) <= 0:
        return _NOTHING
    count = _fewest(enough, 2, MOST_ITEMS)
    if count is None:
        return Needed(None, f"more than {MOST_ITEMS:,} items")
    return Needed(_scaled(scheme, count).items, None)


def repeats_needed(
    scheme: Scheme, effect: float, spread: Spread, cluster_sd: float = 0.0, guard: bool = True
) -> Needed:
    """Fewest repeats that detect `effect` 80 % of the time with the design's own items."""
    if _distance(scheme, effect) <= 0:
        return _NOTHING
    if _df(scheme) is None:
        return Needed(None, "a stratum of a single unit shows no variance")
    if not _detects(scheme, 1e12, effect, spread, cluster_sd, guard):
        return Needed(None, "items differ too much: no number of repeats makes up for more items")
    count = _fewest(lambda k: _detects(scheme, k, effect, spread, cluster_sd, guard), 1, MOST_REPEATS)
    return Needed(count, None if count else f"more than {MOST_REPEATS:,} repeats")


def best_repeats(effect: float, spread: Spread, cost_ratio: float) -> int | None:
    """Repeats that buy the smallest error for a budget, `cost_ratio` = cost of an item / cost of a trial.

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


def _distance(scheme: Scheme, effect: float) -> float:
    """How far an effect is from what must be excluded: zero, or minus the margin."""
    return abs(effect) if scheme.margin is None else effect + scheme.margin


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


def _detects(scheme: Scheme, k: float, effect: float, spread: Spread, cluster_sd: float, guard: bool) -> bool:
    distance = _distance(scheme, effect) / (guard_inflation(scheme.units, k) if guard else 1.0)
    return _seen(scheme, k, distance, -1 if effect < 0 else 1, spread, cluster_sd)


def _scaled(scheme: Scheme, n: int) -> Scheme:
    """The design with `n` items or a few more, labels in the same shares, clusters of the same sizes."""
    labels = []
    for t in scheme.labels:
        items = max(1, -(-n * t.items // scheme.items))
        labels.append(Label(t.stratum, items, max(1, -(-items * t.units // t.items)), min(t.crowd, items)))
    return dataclasses.replace(scheme, labels=tuple(labels))


def _fewest(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """Smallest number from `least` to `most` that is enough, for a test that stays true once it is."""
    if not enough(most):
        return None
    low, high = least - 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
