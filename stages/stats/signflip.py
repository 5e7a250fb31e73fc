"""The guard: an exact sign-flip test of the summary (Fisher 1935; Pitman 1937).

If both arms are alike, a unit's difference is as likely to be `-u` as `u`, independently of the others. Then
p <= alpha with probability at most alpha, whatever the distribution: a theorem, where the bootstrap interval
is an approximation. Each unit is a fair coin between `-w u / n` and `w u / n`; their sum has an exact law.

Noninferiority is one claim and one test: the margin is added to every item's difference, and the same
two-sided test is made of "the candidate is worse by exactly the margin". Its two-sided p matches the
two-sided interval whose lower limit must lie above minus the margin; the direction is the interval's to say.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from stages.stats.draws import OUTSIDE, Draws
from stages.stats.lattice import sum_law
from stages.stats.units import Design, Stratum


@dataclass(frozen=True, slots=True)
class SignFlip:
    """`p` counts; of a bracket it is the upper end, and `p_lower` the lower one. Exact: both are equal."""

    p: float
    p_lower: float
    kind: Literal["exact", "bracket"]


def sign_flip(design: Design, margin: Fraction = Fraction(0)) -> SignFlip:
    """Two-sided p of the summary under random signs of the units, ties with the observed value included.

    `margin` (not negative) shifts every item first, see above. No difference at all gives p = 1. Raises
    ValueError for a negative margin.
    """
    if margin < 0:
        raise ValueError(f"a margin is not negative: {margin}")
    shifted = design.shifted(margin) if margin else design
    observed = abs(sum((w * s.mean for w, s in shifted.weighted), Fraction(0)))
    blocks = [coins for w, s in shifted.weighted if (coins := _coins(w, s))]
    if not blocks or observed == 0:
        return SignFlip(1.0, 1.0, "exact")
    law = sum_law(blocks)
    # The observed signs and their mirror image are always among those that count.
    least = 2.0 * 0.5 ** sum(d.times for block in blocks for d in block)
    upper = min(max(2 * law.at_least(observed - law.slack), least), 1.0)
    if not law.slack:
        return SignFlip(upper, upper, "exact")
    lower = min(max(2 * law.at_least(observed + law.slack) - OUTSIDE, least), 1.0)
    return SignFlip(min(upper + OUTSIDE, 1.0), lower, "bracket")


def _coins(weight: Fraction, stratum: Stratum) -> list[Draws]:
    """One fair coin per unit that isn't 0, equal ones together, in sorted order."""
    sizes: Counter[Fraction] = Counter()
    for value, count in zip(stratum.values, stratum.counts, strict=True):
        if value:
            sizes[abs(weight * value / stratum.n)] += count
    return [Draws((-a, a), (1, 1), sizes[a]) for a in sorted(sizes)]
