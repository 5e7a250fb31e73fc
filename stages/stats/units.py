"""What is resampled and flipped: units with exact rational differences, in strata with rational weights.

The unit is the item, with `d_i = mean(candidate) - mean(control)` over its kept pairs. If items are
clustered, the unit is the cluster: with `G` clusters over `n` items in a stratum, cluster `g` of `m_g`
items has the value `u_g = (G / n) * sum(d_i in g)`. The mean of `u_g` over clusters is then the mean of
`d_i` over items, with `n` held fixed when clusters are resampled, so mean, variance (divisor `G - 1`),
degrees of freedom, bootstrap and sign-flip are those of `G` plain units and nothing downstream needs to
know of clusters. One exception: a margin shifts every item, so a cluster by `m_g` times it (`shifted`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stratum:
    """Distinct units of one stratum, sorted by (value, size).

    `values[j]` is the difference of a unit, `sizes[j]` its size relative to the mean unit (1 if units are
    items), `counts[j]` how many units are like this; `items` the number of kept items.
    """

    name: str
    values: tuple[Fraction, ...]
    sizes: tuple[Fraction, ...]
    counts: tuple[int, ...]
    items: int

    def __post_init__(self) -> None:
        if not self.values or len({len(self.values), len(self.sizes), len(self.counts)}) != 1:
            raise ValueError(f"stratum {self.name!r}: needs at least one unit, and columns of equal length")
        if min(self.counts) < 1:
            raise ValueError(f"stratum {self.name!r}: counts must be positive")

    @property
    def n(self) -> int:
        """Number of units."""
        return sum(self.counts)

    @property
    def mean(self) -> Fraction:
        """Mean difference of the stratum's items."""
        scaled, unit = over_common_denominator(self.values)
        return Fraction(sum(c * v for c, v in zip(self.counts, scaled, strict=True)), unit * self.n)

    @property
    def variance(self) -> Fraction | None:
        """Variance between units, divisor `n - 1`; None for a single unit, which shows no variance."""
        n = self.n
        if n == 1:
            return None
        scaled, unit = over_common_denominator(self.values)
        total = sum(c * v for c, v in zip(self.counts, scaled, strict=True))
        squares = sum(c * v * v for c, v in zip(self.counts, scaled, strict=True))
        return Fraction(n * squares - total * total, unit * unit * n * (n - 1))

    def shifted(self, by: Fraction) -> Stratum:
        """The stratum after adding `by` to the difference of every item."""
        moved = (v + by * s for v, s in zip(self.values, self.sizes, strict=True))
        return _collect(self.name, zip(moved, self.sizes, self.counts, strict=True), self.items)


@dataclass(frozen=True, slots=True)
class Design:
    """Strata of a summary, sorted by name, and their weights, which are rationals summing to 1."""

    strata: tuple[Stratum, ...]
    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        names = [s.name for s in self.strata]
        if not names or names != sorted(set(names)):
            raise ValueError("a design needs strata with distinct names in sorted order; use design()")
        if len(self.weights) != len(names) or min(self.weights) < 0 or sum(self.weights) != 1:
            raise ValueError(f"weights must be one per stratum, not negative, and sum to 1: {self.weights}")

    @property
    def weighted(self) -> list[tuple[Fraction, Stratum]]:
        """(weight, stratum) of the strata that count."""
        return [(w, s) for w, s in zip(self.weights, self.strata, strict=True) if w]

    def shifted(self, by: Fraction) -> Design:
        """The design after adding `by` to the difference of every item."""
        return Design(tuple(s.shifted(by) for s in self.strata), self.weights)


def stratum(name: str, differences: Iterable[Fraction | int], clusters: Iterable[Hashable] | None = None) -> Stratum:
    """A stratum from one rational difference per item, with the cluster of each item if there are clusters.

    Raises ValueError for no items, or lists of unequal length.
    """
    items = [Fraction(d) for d in differences]
    if not items:
        raise ValueError(f"stratum {name!r}: no items")
    if clusters is None:
        return _collect(name, ((d, Fraction(1), c) for d, c in Counter(items).items()), len(items))
    totals: dict[Hashable, int] = {}
    members: Counter[Hashable] = Counter()
    scaled, unit = over_common_denominator(items)
    for value, cluster in zip(scaled, clusters, strict=True):
        totals[cluster] = totals.get(cluster, 0) + value
        members[cluster] += 1
    ratio = Fraction(len(totals), len(items))
    alike = Counter((total, members[cluster]) for cluster, total in totals.items())
    units = ((ratio * Fraction(total, unit), ratio * m, c) for (total, m), c in alike.items())
    return _collect(name, units, len(items))


def stratum_from_arrays(
    name: str, gains: IntArray, pairs: IntArray, clusters: Sequence[Hashable] | None = None
) -> Stratum:
    """A stratum from arrays over items, shape (items,): `d_i = gains[i] / pairs[i]`.

    `gains` is the candidate's passes minus the control's over the kept pairs, `pairs` the number of kept
    pairs. Raises ValueError for no items, unequal shapes, or an item without pairs.
    """
    g, k = np.asarray(gains, dtype=np.int64), np.asarray(pairs, dtype=np.int64)
    if g.ndim != 1 or g.shape != k.shape or not g.size or int(k.min()) < 1:
        raise ValueError(f"stratum {name!r}: needs equal one-dimensional arrays and at least one pair per item")
    width, least = int(k.max()) + 1, int(g.min())
    if clusters is not None or (int(g.max()) - least + 1) * width >= 2**63:  # beyond it the keys below would wrap
        return stratum(name, (Fraction(a, b) for a, b in zip(g.tolist(), k.tolist(), strict=True)), clusters)
    keys, counts = np.unique((g - least) * width + k, return_counts=True)
    kinds = [(*divmod(key, width), count) for key, count in zip(keys.tolist(), counts.tolist(), strict=True)]
    unit = math.lcm(*{per for _, per, _ in kinds})
    merged: Counter[int] = Counter()
    for above, per, count in kinds:
        merged[(above + least) * (unit // per)] += count
    values = sorted(merged)
    return Stratum(
        name,
        tuple(Fraction(value, unit) for value in values),
        (Fraction(1),) * len(values),
        tuple(merged[value] for value in values),
        int(g.size),
    )


def linked_strata(
    name: str, parts: Sequence[tuple[Fraction, Sequence[Fraction], Sequence[Hashable]]]
) -> tuple[Fraction, Stratum]:
    """Strata that share clusters, as one: (their weight together, a stratum whose units are the clusters).

    `parts` holds of each stratum its weight, the differences of its items and their clusters. With `G` clusters,
    cluster `g` has the value `(G / W) sum_s w_s (total of g in s) / n_s`, `W` the sum of the weights: the mean over
    clusters is the weighted mean of the strata, and a cluster is resampled and flipped whole. Raises ValueError
    without a weight.
    """
    whole = sum((weight for weight, _, _ in parts), Fraction(0))
    if whole <= 0:
        raise ValueError(f"strata {name!r}: linked strata need a weight")
    totals: dict[Hashable, Fraction] = {}
    sizes: dict[Hashable, Fraction] = {}
    for weight, differences, clusters in parts:
        share = weight / (whole * len(differences))
        for value, cluster in zip(differences, clusters, strict=True):
            totals[cluster] = totals.get(cluster, Fraction(0)) + share * value
            sizes[cluster] = sizes.get(cluster, Fraction(0)) + share
    units = ((len(totals) * totals[c], len(totals) * sizes[c], 1) for c in totals)
    return whole, _collect(name, units, sum(len(differences) for _, differences, _ in parts))


def design(strata: Iterable[Stratum], weights: Mapping[str, Fraction] | None = None) -> Design:
    """Strata with their weights by name, by default equal. Raises ValueError as `Design` does."""
    ordered = tuple(sorted(strata, key=lambda s: s.name))
    if weights is None:
        return Design(ordered, tuple(Fraction(1, len(ordered)) for _ in ordered))
    if set(weights) != {s.name for s in ordered}:
        raise ValueError(f"weights for {sorted(weights)}, strata {[s.name for s in ordered]}")
    return Design(ordered, tuple(Fraction(weights[s.name]) for s in ordered))


def proportional_weights(sizes: Mapping[str, int]) -> dict[str, Fraction]:
    """Weights proportional to the strata's sizes, which are the frozen pack's, not what was kept of it."""
    total = sum(sizes.values())
    if total < 1 or min(sizes.values()) < 0:
        raise ValueError(f"sizes must not be negative, and one must be positive: {dict(sizes)}")
    return {name: Fraction(size, total) for name, size in sizes.items()}


def over_common_denominator(values: Iterable[Fraction]) -> tuple[list[int], int]:
    """(numerators, denominator): the same rationals over their least common denominator."""
    rationals = list(values)
    unit = math.lcm(*{v.denominator for v in rationals})
    return [v.numerator * (unit // v.denominator) for v in rationals], unit


def _collect(name: str, units: Iterable[tuple[Fraction, Fraction, int]], items: int) -> Stratum:
    """Merge equal (value, size) units and sort them, so that no result depends on the order of rows."""
    merged: Counter[tuple[Fraction, Fraction]] = Counter()
    for value, size, count in units:
        merged[value, size] += count
    ordered = sorted(merged)
    return Stratum(
        name,
        tuple(value for value, _ in ordered),
        tuple(size for _, size in ordered),
        tuple(merged[key] for key in ordered),
        items,
    )
