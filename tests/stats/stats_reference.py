"""Reference values for the tests, written from the document, not from the code: slow, rational, obvious."""

from __future__ import annotations

import itertools
import math
import operator
import random
import statistics
from fractions import Fraction

import scipy.stats

Item = tuple[Fraction, str]  # difference and cluster
Raw = dict[str, list[Item]]
Pmf = dict[Fraction, Fraction]


def random_raw(rng: random.Random, units: int, strata: int, repeats: list[int], clustered: bool) -> Raw:
    """Strata of `units` units or fewer (3 at least); clusters hold one to three items."""
    raw: Raw = {}
    for s in range(strata):
        items: list[Item] = []
        for unit in range(rng.randint(3, units)):
            for _ in range(rng.randint(1, 3) if clustered else 1):
                k = rng.choice(repeats)
                items.append((Fraction(rng.randint(-k, k), k), f"c{unit}"))
        raw[f"s{s}"] = items
    return raw


def random_weights(rng: random.Random, names: list[str]) -> dict[str, Fraction]:
    """Rationals that sum to 1."""
    parts = [rng.randint(1, 5) for _ in names]
    return {name: Fraction(part, sum(parts)) for name, part in zip(names, parts, strict=True)}


def totals(items: list[Item]) -> list[Fraction]:
    """Cluster totals."""
    out: dict[str, Fraction] = {}
    for value, cluster in items:
        out[cluster] = out.get(cluster, Fraction(0)) + value
    return list(out.values())


def add(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    """Number of ways to each sum."""
    out: dict[int, int] = {}
    for x, p in one.items():
        for y, q in other.items():
            out[x + y] = out.get(x + y, 0) + p * q
    return out


def bootstrap_pmf(raw: Raw, weights: dict[str, Fraction]) -> Pmf:
    """Distribution of the summary over all resamples of whole clusters, each total over the fixed n."""
    shares = [[weights[name] * t / len(items) for t in totals(items)] for name, items in raw.items()]
    unit = math.lcm(*(x.denominator for xs in shares for x in xs))
    ways = {0: 1}
    for xs in shares:
        one: dict[int, int] = {}
        for x in xs:
            one[int(x * unit)] = one.get(int(x * unit), 0) + 1
        for _ in xs:
            ways = add(ways, one)
    count = sum(ways.values())
    return {Fraction(x, unit): Fraction(n, count) for x, n in ways.items()}


def every_resample(raw: Raw, weights: dict[str, Fraction]) -> Pmf:
    """The same, by listing every resample of every stratum."""
    lists = [list(itertools.product(totals(items), repeat=len(totals(items)))) for items in raw.values()]
    count = math.prod(len(options) for options in lists)
    out: Pmf = {}
    for chosen in itertools.product(*lists):
        parts = zip(raw.items(), chosen, strict=True)
        x = sum((weights[name] * sum(picked) / len(items) for (name, items), picked in parts), Fraction(0))
        out[x] = out.get(x, Fraction(0)) + Fraction(1, count)
    return out


def reference_tail(raw: Raw, weights: dict[str, Fraction], alpha: Fraction) -> float:
    """a' from the document's formulas."""
    v = vp = below = Fraction(0)
    for name, items in raw.items():
        units = [t * len(totals(items)) / len(items) for t in totals(items)]
        n = len(units)
        part = weights[name] ** 2 * statistics.variance(units) / n
        v, vp, below = v + part, vp + part * (n - 1) / n, below + part**2 / (n - 1)
    t = scipy.stats.t.ppf(1 - float(alpha) / 2, float(v**2 / below))
    return float(f"{scipy.stats.norm.cdf(-math.sqrt(v / vp) * t):.6g}")


def limits(pmf: Pmf, level: float) -> tuple[Fraction, Fraction]:
    """min{x : P(X <= x) >= level} and max{x : P(X >= x) >= level}."""
    exact = Fraction(level)
    found = []
    for points in (sorted(pmf), sorted(pmf, reverse=True)):
        running = Fraction(0)
        for x in points:
            running += pmf[x]
            if running >= exact:
                found.append(x)
                break
    return found[0], found[1]


def brute_sign_flip(raw: Raw, weights: dict[str, Fraction], margin: Fraction = Fraction(0)) -> Fraction:
    """Share of all sign patterns of the clusters whose summary is as far from 0 as the observed one."""
    parts = [
        weights[name] * t / len(items)
        for name, items in raw.items()
        for t in totals([(d + margin, c) for d, c in items])
    ]
    unit = math.lcm(*(p.denominator for p in parts))
    whole = [int(p * unit) for p in parts]
    observed = abs(sum(whole))
    hits = 0
    for signs in itertools.product((-1, 1), repeat=len(whole)):
        hits += abs(sum(map(operator.mul, signs, whole))) >= observed
    return Fraction(hits, 2 ** len(whole))
