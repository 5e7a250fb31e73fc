"""Interval and guard against binomials, all patterns of signs, and resampling that shares no code with them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
import stats_reference as ref

from stages import stats

FloatArray = npt.NDArray[np.float64]
ALPHA = Fraction(1, 20)
MARGINS = (Fraction(0), Fraction(1, 20), Fraction(2, 7))


def built(raw: ref.Raw, weights: dict[str, Fraction]) -> stats.Design:
    strata = (stats.stratum(name, *map(list, zip(*items, strict=True))) for name, items in raw.items())
    return stats.design(strata, weights)


def one_repeat(counts: dict[str, tuple[int, int, int]]) -> list[stats.Stratum]:
    """Strata of wins, losses and ties."""
    return [stats.stratum(name, [1] * w + [-1] * lost + [0] * t) for name, (w, lost, t) in counts.items()]


@pytest.mark.parametrize(
    "counts",
    [
        {"a": (9, 2, 5), "b": (6, 3, 7)},
        {"a": (30, 11, 60), "b": (4, 9, 2), "c": (1, 0, 0)},
        {"a": (0, 5, 0), "b": (5, 0, 0), "c": (2, 2, 90)},
        {str(i): (i, 9 - i, i) for i in range(10)},
    ],
)
def test_strata_weighted_by_their_size_give_the_binomial_of_all_wins_and_losses(
    counts: dict[str, tuple[int, int, int]],
) -> None:
    weights = stats.proportional_weights({name: sum(kinds) for name, kinds in counts.items()})
    found = stats.sign_flip(stats.design(one_repeat(counts), weights))
    wins, losses = (sum(kinds[i] for kinds in counts.values()) for i in (0, 1))
    assert found.kind == "exact"
    assert found.p == pytest.approx(scipy.stats.binomtest(wins, wins + losses).pvalue, rel=1e-10)


@pytest.mark.parametrize(
    ("counts", "weights"),
    [
        ({"a": (9, 2, 5), "b": (6, 3, 8)}, (Fraction(1, 2), Fraction(1, 2))),
        ({"a": (14, 5, 5), "b": (3, 3, 1)}, (Fraction(1, 3), Fraction(2, 3))),
        ({"a": (40, 25, 36), "b": (11, 4, 9)}, (Fraction(2, 7), Fraction(5, 7))),
        ({"a": (5, 1, 0), "b": (2, 9, 3)}, (Fraction(0), Fraction(1))),
    ],
)
def test_two_strata_with_one_repeat_give_the_sum_of_two_binomials(
    counts: dict[str, tuple[int, int, int]], weights: tuple[Fraction, Fraction]
) -> None:
    sides = []
    for weight, (wins, losses, ties) in zip(weights, counts.values(), strict=True):
        flips, share = wins + losses, weight / (wins + losses + ties)
        heads = range(flips + 1)
        sides.append([(share * (2 * h - flips), scipy.stats.binom.pmf(h, flips, 0.5)) for h in heads])
    observed = sum(
        w * Fraction(wins - losses, wins + losses + ties)
        for w, (wins, losses, ties) in zip(weights, counts.values(), strict=True)
    )
    expected = math.fsum(p * q for x, p in sides[0] for y, q in sides[1] if abs(x + y) >= abs(observed))
    found = stats.sign_flip(stats.design(one_repeat(counts), dict(zip(counts, weights, strict=True))))
    assert found.kind == "exact"
    assert found.p == pytest.approx(expected, rel=1e-9)


def sixteen(seed: int, clustered: bool) -> tuple[ref.Raw, dict[str, Fraction]]:
    """Up to 16 units in two strata, each item with its own number of repeats from 1 to 96."""
    rng = random.Random(f"sixteen {seed} {clustered}")
    raw: ref.Raw = {}
    for name, units in (("a", 9), ("b", 6 + seed % 2)):
        items: list[ref.Item] = []
        for unit in range(units):
            for _ in range(rng.randint(1, 3) if clustered else 1):
                k = rng.randint(1, 96)
                items.append((Fraction(rng.randint(-k // 2, k), k), f"c{unit}"))
        raw[name] = items
    return raw, ref.random_weights(rng, list(raw))


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_mixed_repeats_weights_clusters_and_a_margin_give_the_share_of_all_sign_patterns(
    seed: int, clustered: bool
) -> None:
    raw, weights = sixteen(seed, clustered)
    margin = MARGINS[seed]
    expected = float(ref.brute_sign_flip(raw, weights, margin))
    found = stats.sign_flip(built(raw, weights), margin)
    assert found.p_lower - 1e-12 <= expected <= found.p + 1e-12
    assert found.p - found.p_lower < 0.01, "a bracket no wider than the patterns near its edge"


@dataclass(frozen=True)
class Pack:
    """Strata of items with clusters, and weights, as the reference sees them."""

    raw: ref.Raw
    weights: dict[str, Fraction]

    @property
    def parts(self) -> list[FloatArray]:
        """What each unit of each stratum adds to the summary, shape (units,) each."""
        return [
            np.array([float(self.weights[name] * t / len(items)) for t in ref.totals(items)])
            for name, items in self.raw.items()
        ]


def pack(
    seed: int, sizes: list[int], repeats: range, *, per_cluster: int = 1, weights: str = "", skew: float = 1.0
) -> Pack:
    """Items of random rates, the candidate better by .04; weights like "1/2 1/3 1/6", else equal."""
    rng = random.Random(f"pack {seed}")
    raw: ref.Raw = {}
    for s, size in enumerate(sizes):
        items: list[ref.Item] = []
        for n in range(size):
            k, rate = rng.choice(repeats), rng.random() ** skew
            won = sum((rng.random() < rate + 0.04) - (rng.random() < rate) for _ in range(k))
            items.append((Fraction(won, k), f"c{n if per_cluster == 1 else rng.randrange(1 + size // per_cluster)}"))
        raw[f"s{s}"] = items
    shares = [Fraction(w) for w in weights.split()] or [Fraction(1, len(sizes))] * len(sizes)
    return Pack(raw, dict(zip(raw, shares, strict=True)))


PACKS: dict[str, Callable[[], Pack]] = {
    "one stratum of single repeats": lambda: pack(1, [90], range(1, 2)),
    "four unequal strata": lambda: pack(2, [12, 25, 40, 61], range(5, 6)),
    "unequal weights": lambda: pack(3, [37, 53, 29], range(3, 4), weights="1/2 2/7 3/14"),
    "clusters": lambda: pack(4, [60, 80], range(3, 4), per_cluster=3),
    "mixed denominators": lambda: pack(5, [70, 45], range(1, 97)),
    "mixed denominators in clusters, unequal weights": lambda: pack(
        6, [66, 48, 30], range(1, 97), per_cluster=2, weights="1/5 1/3 7/15", skew=4.0
    ),
}


def resampled(parts: list[FloatArray], replicates: int, rng: np.random.Generator) -> FloatArray:
    """Sums of units drawn with replacement within each stratum, shape (replicates,)."""
    sums = np.zeros(replicates)
    for part in parts:
        rows = 2**21 // part.size
        for start in range(0, replicates, rows):
            count = min(rows, replicates - start)
            sums[start : start + count] += part[rng.integers(part.size, size=(count, part.size))].sum(axis=1)
    return sums


def flipped(parts: list[FloatArray], replicates: int, rng: np.random.Generator) -> FloatArray:
    """Sums of units with random signs, shape (replicates,)."""
    units = np.concatenate(parts)
    rows = 2**21 // units.size
    chunks = [rng.choice([-1.0, 1.0], size=(rows, units.size)) @ units for _ in range(-(-replicates // rows))]
    return np.concatenate(chunks)[:replicates]


def agree(found: Pack, replicates: int, off: float) -> None:
    """Tails at both limits, and the guard's p, lie within `off` of their shares among the resamples."""
    design, rng = built(found.raw, found.weights), np.random.default_rng(17)
    interval = stats.bootstrap_interval(design, ALPHA)
    assert interval.lo is not None
    assert interval.hi is not None
    assert interval.tail_level is not None
    sums, near = resampled(found.parts, replicates, rng), 1e-10
    for draws, limit in ((sums, interval.lo), (-sums, -interval.hi)):
        # The limit is the first value whose tail reaches the level: up to it (and its bracket) enough, before it too little.
        assert np.mean(draws <= float(limit + interval.width) + near) > interval.tail_level - off
        assert np.mean(draws < float(limit) - near) < interval.tail_level + off
    p = stats.sign_flip(design)
    observed = abs(sum(float(part.sum()) for part in found.parts))
    share = float(np.mean(np.abs(flipped(found.parts, replicates, rng)) >= observed - near))
    error = max(off, 5 * math.sqrt(p.p / replicates))
    assert p.p_lower - error < share < p.p + error


@pytest.mark.parametrize("name", ["unequal weights", "clusters"])
def test_resampling_whole_units_agrees_with_the_limits_and_the_guard(name: str) -> None:
    agree(PACKS[name](), 40_000, 5e-3)


@pytest.mark.heavy
@pytest.mark.parametrize("name", PACKS)
def test_a_million_resamples_agree_with_the_limits_and_the_guard_to_a_thousandth(name: str) -> None:
    agree(PACKS[name](), 10**6, 1e-3)
