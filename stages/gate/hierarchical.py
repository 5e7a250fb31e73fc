"""The interval when repeats are resampled within their items as well: shown beside the decision, never the decision.

It counts the noise of trials twice (once between items, once within them), so it is wider than it would have to be.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pandas as pd

from stages.contract.design import merged
from stages.contract.protocol import Protocol
from stages.gate.rule import clusters_of
from stages.stats import Design, Interval, bootstrap_interval
from stages.stats.draws import Draws
from stages.stats.lattice import sum_law

MOST_WAYS = 10**300
"""In how many ways pairs may be drawn within a unit, at most: beyond, a float can't hold the number."""
MOST_REPEATS = 100
MOST_SUMS = 20_000
"""Distinct totals of a cluster, at most: each is a fraction of its own."""

Kind = tuple[int, int, int]
"""Pairs of an item, those that the candidate won, those that it lost."""


def hierarchical_why(items: pd.DataFrame, protocol: Protocol) -> str | None:
    """Why there is no such interval for these items, or None."""
    into = items["stratum"].map(lambda label: merged(protocol, label))
    if items.assign(into=into).groupby("cluster")["into"].nunique().max() > 1:
        return "not computed for clusters that lie in several strata"
    if max(items["pairs"].tolist(), default=1) > MOST_REPEATS:
        return "not computed for so many repeats"
    units = list(_units(items))
    if len(units) * _ways(units) > MOST_WAYS or any(_sums(unit) > MOST_SUMS for unit in units):
        return "not computed for so many repeats or items of a cluster, or so many different numbers of them"
    return None


def hierarchical_interval(items: pd.DataFrame, protocol: Protocol, design: Design, alpha: Fraction) -> Interval:
    """The exact interval of the design of these items (as `items_of` gives them), at the same tail level."""
    plain = bootstrap_interval(design, alpha)
    if plain.tail_level is None:
        return plain
    into = items["stratum"].map(lambda label: merged(protocol, label))
    law = sum_law([[_draws(items[into == s.name], w / s.items, s.n)] for w, s in design.weighted])
    return replace(
        plain,
        kind="bracket" if law.slack else "exact",
        lo=max(law.lower_quantile(plain.tail_level) - law.slack, law.low),
        hi=min(law.upper_quantile(plain.tail_level) + law.slack, law.high),
        width=2 * law.slack,
    )


def _units(items: pd.DataFrame) -> Counter[tuple[Kind, ...]]:
    """How many units (items, or clusters of them) are alike."""
    clusters = clusters_of(items)
    kinds = zip(*(items[name].tolist() for name in ("pairs", "pair_wins", "pair_losses")), strict=True)
    if clusters is None:
        return Counter((kind,) for kind in kinds)
    members: dict[object, list[Kind]] = {}
    for cluster, kind in zip(clusters, kinds, strict=True):
        members.setdefault(cluster, []).append(kind)
    return Counter(tuple(sorted(unit)) for unit in members.values())


def _draws(items: pd.DataFrame, share: Fraction, times: int) -> Draws:
    """A draw is a unit, each as likely as another, and then of each of its items as many pairs as it has."""
    units = _units(items)
    whole = _ways(list(units))
    ways: Counter[Fraction] = Counter()
    for unit, count in units.items():
        every = whole // math.prod(pairs**pairs for pairs, _, _ in unit)
        for total, number in _totals(unit).items():
            ways[total] += count * number * every
    atoms = sorted(atom for atom, number in ways.items() if number)
    shrink = math.gcd(*(ways[atom] for atom in atoms))
    return Draws(tuple(share * a for a in atoms), tuple(ways[a] // shrink for a in atoms), times)


def _totals(unit: tuple[Kind, ...]) -> Counter[Fraction]:
    """Number of ways to each sum of the items' mean differences."""
    made = Counter({Fraction(0): 1})
    for pairs, won, lost in unit:
        powers = enumerate(_power([lost, pairs - won - lost, won], pairs))
        own = [(Fraction(total - pairs, pairs), number) for total, number in powers if number]
        longer: Counter[Fraction] = Counter()
        for x, n in made.items():
            for y, m in own:
                longer[x + y] += n * m
        made = longer
    return made


def _sums(unit: tuple[Kind, ...]) -> int:
    """No fewer distinct totals than the unit has."""
    unit_of = math.lcm(*(pairs for pairs, _, _ in unit))
    return min(2 * len(unit) * unit_of + 1, math.prod(2 * pairs + 1 for pairs, _, _ in unit))


def _ways(units: list[tuple[Kind, ...]]) -> int:
    return math.lcm(*(math.prod(pairs**pairs for pairs, _, _ in unit) for unit in units))


def _power(base: list[int], exponent: int) -> list[int]:
    """Coefficients of a polynomial to a power, in integers."""
    made = [1]
    for _ in range(exponent):
        longer = [0] * (len(made) + len(base) - 1)
        for i, a in enumerate(made):
            for j, b in enumerate(base):
                longer[i + j] += a * b
        made = longer
    return made
