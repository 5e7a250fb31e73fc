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
from stages.stats import Design, Interval, bootstrap_interval
from stages.stats.draws import Draws
from stages.stats.lattice import sum_law

MOST_WAYS = 10**300
"""In how many ways pairs may be drawn within an item, at most: beyond, a float can't hold the number."""


def hierarchical_why(items: pd.DataFrame) -> str | None:
    """Why there is no such interval for these items, or None."""
    if items["cluster"].notna().any():
        return "not computed for items in clusters"
    repeats = set(items["pairs"].tolist())
    if max(repeats, default=1) > 100 or len(items) * _ways(repeats) > MOST_WAYS:
        return "not computed for so many repeats, or so many different numbers of them"
    return None


def hierarchical_interval(items: pd.DataFrame, protocol: Protocol, design: Design, alpha: Fraction) -> Interval:
    """The exact interval of the design of these items (as `items_of` gives them), at the same tail level."""
    plain = bootstrap_interval(design, alpha)
    if plain.tail_level is None:
        return plain
    into = items["stratum"].map(lambda label: merged(protocol, label))
    draws = [[_draws(items[into == s.name], w / s.n, s.n)] for w, s in design.weighted]
    law = sum_law(draws)
    return replace(
        plain,
        kind="bracket" if law.slack else "exact",
        lo=max(law.lower_quantile(plain.tail_level) - law.slack, law.low),
        hi=min(law.upper_quantile(plain.tail_level) + law.slack, law.high),
        width=2 * law.slack,
    )


def _draws(rows: pd.DataFrame, share: Fraction, times: int) -> Draws:
    """A draw is an item, each as likely as another, and then the mean of as many draws of its pairs as it has."""
    kinds = Counter(zip(*(rows[name].tolist() for name in ("pairs", "pair_wins", "pair_losses")), strict=True))
    whole = _ways({pairs for pairs, _, _ in kinds})
    ways: Counter[Fraction] = Counter()
    for (pairs, won, lost), count in kinds.items():
        for total, number in enumerate(_power([lost, pairs - won - lost, won], pairs)):
            ways[Fraction(total - pairs, pairs)] += count * number * (whole // pairs**pairs)
    atoms = sorted(atom for atom, number in ways.items() if number)
    shrink = math.gcd(*(ways[atom] for atom in atoms))
    return Draws(tuple(share * a for a in atoms), tuple(ways[a] // shrink for a in atoms), times)


def _ways(repeats: set[int]) -> int:
    return math.lcm(*(pairs**pairs for pairs in repeats))


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
