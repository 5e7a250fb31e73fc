"""The exact blocked bootstrap interval of a weighted difference, its tails expanded for small samples.

Units are resampled within their stratum. The bootstrap distribution P* of the summary is computed, so there
is no seed and no number of replicates. Its tails are read at `a' = Phi(-r t)`, with `t` the quantile of
Student's t and `r` undoing the divisor `n` of a plain bootstrap: Hesterberg 2015 ("What Teachers Should Know
About the Bootstrap", section on the expanded percentile interval), carried over to strata by Welch and
Satterthwaite's degrees of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import scipy.special

from stages.stats.draws import Draws
from stages.stats.fmt import sig6
from stages.stats.lattice import Law, sum_law
from stages.stats.student import t_quantile
from stages.stats.units import Design

Kind = Literal["exact", "bracket", "none"]
Side = Literal["above", "below", "inside", "undecided"]


@dataclass(frozen=True, slots=True)
class Moments:
    """`delta` the summary; `variance` of it (V), `plain` what a plain bootstrap estimates (Vp), and `df`.

    `why` is None, or says why a variance is unknown; then `variance`, `plain` and `df` are None. With no
    variance at all, `variance` and `plain` are 0 and only `df` is None.
    """

    delta: Fraction
    variance: Fraction | None
    plain: Fraction | None
    df: Fraction | None
    why: str | None


@dataclass(frozen=True, slots=True)
class Interval:
    """Limits of the summary, exact rationals; the bracket is widened outwards and `width` says by how much.

    `lo` and `hi` are the outer ends of the brackets of both limits, each `width` wide; an exact interval has
    width 0. For kind "none" limits and tail level are None and `why` is a sentence.
    """

    moments: Moments
    kind: Kind
    lo: Fraction | None
    hi: Fraction | None
    width: Fraction
    tail_level: float | None
    why: str | None

    @property
    def delta(self) -> Fraction:
        """The summary, weighted mean difference."""
        return self.moments.delta


def moments(design: Design) -> Moments:
    """Summary, its variance and degrees of freedom (Welch 1947, Satterthwaite 1946), all exact."""
    delta = sum((w * s.mean for w, s in design.weighted), Fraction(0))
    parts: list[tuple[Fraction, int]] = []
    for w, s in design.weighted:
        spread = s.variance
        if spread is None:
            return Moments(delta, None, None, None, f"stratum {s.name} has a single unit: its variance is unknown")
        parts.append((w * w * spread / s.n, s.n))
    variance = sum((v for v, _ in parts), Fraction(0))
    if variance == 0:
        return Moments(delta, variance, variance, None, "within every stratum all units have the same difference")
    plain = sum((v * (n - 1) / n for v, n in parts), Fraction(0))
    df = variance**2 / sum((v * v / (n - 1) for v, n in parts), Fraction(0))
    return Moments(delta, variance, plain, df, None)


def tail_level(found: Moments, alpha: Fraction) -> float:
    """`a' = Phi(-sqrt(V / Vp) t_{df, 1 - alpha / 2})`, to six significant digits.

    It is rounded before use, so that it can be printed whole and every machine reads the same tail. Raises
    ValueError for alpha outside of (0, 1), or moments without variance.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1: {alpha}")
    if not found.variance or not found.plain or found.df is None:
        raise ValueError("there is no tail level without variance")
    ratio = math.sqrt(found.variance / found.plain)
    t = -t_quantile(float(found.df), float(alpha / 2))
    return sig6(float(scipy.special.ndtr(-ratio * t)))


def bootstrap_law(design: Design) -> Law:
    """P*: the distribution of the summary when units are resampled within their strata."""
    return sum_law([[d] for d in _resampled(design)])


def bootstrap_interval(design: Design, alpha: Fraction) -> Interval:
    """The interval at level `1 - alpha`; give it `alpha_spent`.

    `lo = min{x : P*(X <= x) >= a'}`, `hi = max{x : P*(X >= x) >= a'}`. It doesn't exist (kind "none") if a
    weighted stratum has a single unit or if all variances are 0: such data say nothing about their own
    error. A tail level below 1e-9 gives the end of the support: too wide rather than unresolved. Raises
    ValueError for alpha outside of (0, 1).
    """
    found = moments(design)
    if found.why is not None:
        if not 0 < alpha < 1:
            raise ValueError(f"alpha must lie between 0 and 1: {alpha}")
        return Interval(found, "none", None, None, Fraction(0), None, found.why)
    level = tail_level(found, alpha)
    law = bootstrap_law(design)
    lo = max(law.lower_quantile(level) - law.slack, law.low)
    hi = min(law.upper_quantile(level) + law.slack, law.high)
    return Interval(found, "bracket" if law.slack else "exact", lo, hi, 2 * law.slack, level, None)


def side(interval: Interval, of: Fraction) -> Side:
    """Where the interval lies: wholly "above" or "below" the value `of`, or with it "inside".

    A limit equal to `of` doesn't exclude it. "undecided" if the two ends of a bracket disagree; it counts
    against publishing, as does kind "none", which excludes nothing.
    """
    if interval.lo is None or interval.hi is None:
        return "inside"
    if interval.lo > of:
        return "above"
    if interval.hi < of:
        return "below"
    if interval.lo + interval.width > of or interval.hi - interval.width < of:
        return "undecided"
    return "inside"


def excludes(interval: Interval, of: Fraction, claim: Literal["superiority", "noninferiority"]) -> bool:
    """Rule 5: the interval excludes zero (superiority), or lies above minus the margin (noninferiority)."""
    found = side(interval, of)
    return found == "above" or (found == "below" and claim == "superiority")


def _resampled(design: Design) -> list[Draws]:
    """For each stratum with a weight, its `n` draws, each worth its weighted share of the summary."""
    found = []
    for w, s in design.weighted:
        share, (values, counts) = w / s.n, _distinct(s.values, s.counts)
        found.append(Draws(tuple(share * v for v in values), counts, s.n))
    return found


def _distinct(values: tuple[Fraction, ...], counts: tuple[int, ...]) -> tuple[tuple[Fraction, ...], tuple[int, ...]]:
    """Equal values put together: clusters of different sizes may have them, and then they are neighbours."""
    firsts = [i for i, v in enumerate(values) if i == 0 or v != values[i - 1]]
    if len(firsts) == len(values):
        return values, counts
    ends = [*firsts[1:], len(values)]
    return tuple(values[i] for i in firsts), tuple(sum(counts[i:j]) for i, j in zip(firsts, ends, strict=True))
