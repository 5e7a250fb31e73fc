"""Sums of independent rational draws: their moments, the window that holds them, the lattice they live on.

Everything here is exact until a width is needed. `Draws` is `times` independent draws from one finite
distribution: a bootstrapped stratum is one `Draws`, a unit whose sign is flipped is another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from stages.stats.units import over_common_denominator

OUTSIDE = 1e-13  # probability that a window is allowed to leave out
_LOG = math.log(2 / OUTSIDE)


@dataclass(frozen=True, slots=True)
class Draws:
    """`times` independent draws of `atoms[j]` with probability `counts[j] / sum(counts)`; atoms distinct."""

    atoms: tuple[Fraction, ...]
    counts: tuple[int, ...]
    times: int

    @property
    def mean(self) -> Fraction:
        """Mean of the sum."""
        scaled, unit = over_common_denominator(self.atoms)
        total = sum(c * a for c, a in zip(self.counts, scaled, strict=True))
        return Fraction(self.times * total, unit * sum(self.counts))

    @property
    def variance(self) -> Fraction:
        """Variance of the sum."""
        scaled, unit = over_common_denominator(self.atoms)
        n = sum(self.counts)
        total = sum(c * a for c, a in zip(self.counts, scaled, strict=True))
        squares = sum(c * a * a for c, a in zip(self.counts, scaled, strict=True))
        return Fraction(self.times * (n * squares - total * total), (unit * n) ** 2)

    @property
    def reach(self) -> Fraction:
        """The farthest that a single draw lies from its mean."""
        scaled, unit = over_common_denominator(self.atoms)
        n = sum(self.counts)
        total = sum(c * a for c, a in zip(self.counts, scaled, strict=True))
        return Fraction(max(n * max(scaled) - total, total - n * min(scaled)), unit * n)

    @property
    def low(self) -> Fraction:
        """Smallest possible sum."""
        return self.times * min(self.atoms)

    @property
    def high(self) -> Fraction:
        """Largest possible sum."""
        return self.times * max(self.atoms)


@dataclass(frozen=True, slots=True)
class Steps:
    """`Draws` on the integers: `atoms` are not negative, the smallest is 0."""

    atoms: tuple[int, ...]
    counts: tuple[int, ...]
    times: int

    @property
    def centre(self) -> Fraction:
        """Mean of a single draw."""
        total = sum(c * a for c, a in zip(self.counts, self.atoms, strict=True))
        return Fraction(total, sum(self.counts))


@dataclass(frozen=True, slots=True)
class Lattice:
    """A sum of draws as `origin + step * (sum of steps)`; no steps are left if the sum is constant."""

    origin: Fraction
    step: Fraction
    steps: tuple[Steps, ...]


def half_width(draws: Sequence[Draws]) -> float:
    """Half-width around the mean outside of which the sum has probability below `OUTSIDE`.

    Bernstein's inequality (Boucheron, Lugosi and Massart 2013, section 2.8) for both tails:
    `P(|S - ES| >= t) <= 2 exp(-t^2 / (2 (V + b t / 3)))`, solved for t. A millionth is added for rounding.
    """
    variance = float(sum((d.variance for d in draws), Fraction(0)))
    reach = max((float(d.reach) for d in draws), default=0.0)
    linear = reach * _LOG / 3
    return (linear + math.sqrt(linear * linear + 2 * _LOG * variance)) * (1 + 1e-6)


def support(draws: Sequence[Draws]) -> tuple[Fraction, Fraction]:
    """Smallest and largest possible sum."""
    return sum((d.low for d in draws), Fraction(0)), sum((d.high for d in draws), Fraction(0))


def lattice(draws: Sequence[Draws]) -> Lattice:
    """The coarsest lattice on which the sum lives, in exact integer arithmetic."""
    flat, unit = over_common_denominator([a for d in draws for a in d.atoms])
    numerators = iter(flat)
    grouped = [[next(numerators) for _ in d.atoms] for d in draws]
    least = [min(group) for group in grouped]
    step = math.gcd(*(a - low for group, low in zip(grouped, least, strict=True) for a in group))
    origin = Fraction(sum(d.times * low for d, low in zip(draws, least, strict=True)), unit)
    if step == 0:
        return Lattice(origin, Fraction(1), ())
    steps = (
        Steps(tuple((a - low) // step for a in group), d.counts, d.times)
        for d, group, low in zip(draws, grouped, least, strict=True)
        if len(group) > 1
    )
    return Lattice(origin, Fraction(step, unit), tuple(steps))


def on_grid(draws: Sequence[Draws], step: Fraction) -> tuple[list[Draws], Fraction, float]:
    """Every atom rounded to the nearest multiple of `step`: (rounded draws, shift, slack).

    The sum of `draws` is the sum of the rounded draws plus `shift`, give or take `slack`, apart from a
    probability below `OUTSIDE`: the residuals of rounding are independent draws of their own, so their
    sum strays from its mean by no more than Bernstein allows, which for many draws is far less than
    `step / 2` times their number.
    """
    rounded: list[Draws] = []
    residuals: list[Draws] = []
    for d in draws:
        near = [round(a / step) * step for a in d.atoms]
        rounded.append(_merged(near, d.counts, d.times))
        residuals.append(_merged([a - b for a, b in zip(d.atoms, near, strict=True)], d.counts, d.times))
    shift = sum((r.mean for r in residuals), Fraction(0))
    low, high = support(residuals)
    return rounded, shift, min(half_width(residuals), float(max(high - shift, shift - low)))


def _merged(atoms: Sequence[Fraction], counts: Sequence[int], times: int) -> Draws:
    """Draws with equal atoms put together."""
    merged: dict[Fraction, int] = {}
    for atom, count in zip(atoms, counts, strict=True):
        merged[atom] = merged.get(atom, 0) + count
    return Draws(tuple(merged), tuple(merged.values()), times)
