"""The distribution of a sum of independent rational draws: computed, not sampled.

`sum_law` takes blocks (a block: the draws of one stratum) and returns the law of the total. If the common
lattice of all draws needs at most `EXACT_POINTS` points, the law is exact. Else each block is computed on its
own lattice and then placed on a dyadic grid, or, if even a block's lattice is too fine (mixed denominators),
each of its draws is. Rounding goes to the nearest point, and `slack` bounds what it can have moved: the total
lies within `slack` of the law's value, so a quantile lies within `slack` of the law's quantile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import scipy.fft

from stages.stats.draws import Draws, Lattice, half_width, lattice, on_grid, support
from stages.stats.spectrum import FloatArray, fast_length, mass_function

EXACT_POINTS = 2**17
MERGE_POINTS = 2**17  # grid for sums of strata, which are rounded once each
DRAW_POINTS = 2**20  # grid for single draws, which are rounded as often as they are drawn
TOLERANCE = 1e-11  # probabilities closer than this are equal
RESOLVED = 1e-9  # a tail level below this is not resolved: its quantile is the end of the support


@dataclass(frozen=True)
class Law:
    """P(X = start + i * step) for i in 0..n-1, `mass` of shape (n,), between `low` and `high`, give or take.

    `slack` is 0 for an exact law. Otherwise the true value lies within `slack` of X, apart from 1e-13.
    """

    start: Fraction
    step: Fraction
    mass: FloatArray
    low: Fraction
    high: Fraction
    slack: Fraction = Fraction(0)
    below: FloatArray = field(init=False, repr=False)
    above: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "below", np.cumsum(self.mass))
        object.__setattr__(self, "above", np.cumsum(self.mass[::-1])[::-1])

    def at_most(self, x: Fraction) -> float:
        """P(X <= x), exactly 0 or 1 outside of the support."""
        index = math.floor((x - self.start) / self.step)
        if x < self.low - self.slack or index < 0:
            return 0.0
        if x >= self.high + self.slack or index >= self.below.size:
            return 1.0
        return min(max(float(self.below[index]), 0.0), 1.0)

    def at_least(self, x: Fraction) -> float:
        """P(X >= x), exactly 0 or 1 outside of the support."""
        index = math.ceil((x - self.start) / self.step)
        if x > self.high + self.slack or index >= self.above.size:
            return 0.0
        if x <= self.low - self.slack or index < 0:
            return 1.0
        return min(max(float(self.above[index]), 0.0), 1.0)

    def lower_quantile(self, level: float) -> Fraction:
        """min{x : P(X <= x) >= level}, up to `TOLERANCE`; the end of the support below `RESOLVED`."""
        if level < RESOLVED:
            return self.low
        return self.start + self.step * int(np.argmax(self.below >= level - TOLERANCE))

    def upper_quantile(self, level: float) -> Fraction:
        """max{x : P(X >= x) >= level}, up to `TOLERANCE`; the end of the support below `RESOLVED`."""
        if level < RESOLVED:
            return self.high
        back = int(np.argmax(self.above[::-1] >= level - TOLERANCE))
        return self.start + self.step * (self.above.size - 1 - back)


def sum_law(blocks: Sequence[Sequence[Draws]]) -> Law:
    """The law of the sum over all draws of all blocks. Raises ValueError if there are none."""
    draws = [d for block in blocks for d in block]
    if not draws:
        raise ValueError("a sum of no draws has no law")
    whole = lattice(draws)
    if (points := _points(draws, whole)) <= EXACT_POINTS:
        return _exact(draws, whole, points)
    return _bracketed([list(block) for block in blocks if block], draws)


def _points(draws: Sequence[Draws], on: Lattice) -> int:
    """How many lattice points the window around the mean holds."""
    reach = sum(s.times * max(s.atoms) for s in on.steps) + 1
    return min(reach, 2 * math.ceil(Fraction(half_width(draws)) / on.step) + 3)


def _exact(draws: Sequence[Draws], on: Lattice, points: int) -> Law:
    """The law on a lattice fine enough to hold every value, its window `points` wide."""
    reach = sum(s.times * max(s.atoms) for s in on.steps)
    low, high = on.origin, on.origin + on.step * reach
    if not on.steps:
        return Law(on.origin, on.step, np.ones(1), low, high)
    start = 0
    if points < reach + 1:
        mean = sum((d.mean for d in draws), Fraction(0))
        start = round((mean - on.origin) / on.step) - points // 2
    mass = mass_function(on.steps, fast_length(points), start)[:points]
    return Law(on.origin + start * on.step, on.step, mass, low, high)


def _bracketed(blocks: Sequence[Sequence[Draws]], draws: Sequence[Draws]) -> Law:
    """The law on a dyadic grid, with the slack that rounding to it costs."""
    low, high = support(draws)
    lattices = [(block, on, _points(block, on)) for block in blocks for on in [lattice(block)]]
    coarse = [found for found in lattices if found[2] <= EXACT_POINTS]
    fine = [d for block, _, points in lattices if points > EXACT_POINTS for d in block]
    width, centre = 2 * half_width(draws), sum((d.mean for d in draws), Fraction(0))
    if width > high - low:
        width, centre = float(high - low), (high + low) / 2
    # Each stratum is rounded once, so the more there are the finer the grid.
    grid = min(DRAW_POINTS, MERGE_POINTS << max(len(coarse).bit_length() - 2, 0))
    step = Fraction(2) ** math.ceil(math.log2(width / (DRAW_POINTS if fine else grid)))
    laws = [_exact(*found) for found in coarse]
    shift, slack = Fraction(0), len(coarse) * float(step) / 2
    if fine:
        rounded, shift, strayed = on_grid(fine, step)
        on = lattice(rounded)
        laws.append(_exact(rounded, on, _points(rounded, on)))
        slack += strayed
    # One step more than the bounds add up to: for the rest of the shift, and for floats on the way here.
    margin = math.ceil(slack / float(step)) + 1
    points = math.ceil(width / float(step)) + 2 * margin
    start = round((centre - shift) / step) - points // 2
    mass = _merged([_on_multiples(law, step) for law in laws], fast_length(points), start)
    return Law((start + round(shift / step)) * step, step, mass, low, high, margin * step)


def _on_multiples(law: Law, step: Fraction) -> tuple[int, FloatArray]:
    """(first, mass): values moved to the nearest multiple of `step`, the first of them `first * step`."""
    places = np.rint(float(law.start / step) + float(law.step / step) * np.arange(law.mass.size))
    first = int(places[0])
    mass = np.bincount((places - first).astype(np.int64), weights=law.mass).astype(np.float64)
    return first, mass


def _merged(laws: Sequence[tuple[int, FloatArray]], length: int, start: int) -> FloatArray:
    """P(sum = start + i modulo `length`) of independent variables that are integers, shape (length,)."""
    spectrum = np.ones(length // 2 + 1, dtype=np.complex128)
    for _, mass in laws:
        folded = np.bincount(np.arange(mass.size) % length, weights=mass, minlength=length)
        spectrum *= scipy.fft.rfft(folded)
    around: FloatArray = scipy.fft.irfft(spectrum, n=length)
    return np.roll(around, (sum(first for first, _ in laws) - start) % length)
