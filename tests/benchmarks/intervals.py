"""One interval by everyone's means: the equally weighted mean of the strata's mean differences.

Every method starts from the same arrays over items (`gains`, `pairs` of each stratum) and ends at two limits. The
resamplers read their percentiles at the tail level that the exact interval reads, so all estimate the same limits.
Libraries are imported inside of each function: a method's process holds nothing but what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Strata = Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]
Limits = tuple[float, float]
Method = Callable[[Strata, float, int], Limits]

ALPHA = Fraction(1, 20)
SEED = 7
TOGETHER = 2**17  # numbers resampled at once where a method lets us choose: the fastest of 2^13 to 2^22 here


def exact(strata: Strata, _level: float, _replicates: int) -> Limits:
    """The computed distribution, building of the design included."""
    from stages import stats

    built = stats.design(stats.stratum_from_arrays(str(i), *arrays) for i, arrays in enumerate(strata))
    found = stats.bootstrap_interval(built, ALPHA)
    assert found.lo is not None
    assert found.hi is not None
    return float(found.lo), float(found.hi)


def multinomial(strata: Strata, level: float, replicates: int) -> Limits:
    """Our own cross-check: how often each distinct value is drawn."""
    from stages import stats

    built = stats.design(stats.stratum_from_arrays(str(i), *arrays) for i, arrays in enumerate(strata))
    return _ends(stats.multinomial_bootstrap(built, replicates, np.random.default_rng(SEED)), level)


def numpy_indices(strata: Strata, level: float, replicates: int) -> Limits:
    """Indices drawn with replacement, as most scripts do it."""
    rng, total = np.random.default_rng(SEED), np.zeros(replicates)
    for sample in _samples(strata):
        rows = max(1, TOGETHER // sample.size)
        for start in range(0, replicates, rows):
            stop = min(start + rows, replicates)
            picked = sample[rng.integers(sample.size, size=(stop - start, sample.size))]
            total[start:stop] += picked.mean(axis=1) / len(strata)
    return _ends(total, level)


def scipy_tuned(strata: Strata, level: float, replicates: int) -> Limits:
    """`scipy.stats.bootstrap`, vectorized, in batches that suit the cache."""
    return _scipy(strata, level, replicates, max(1, TOGETHER // sum(g.size for g, _ in strata)))


def scipy_default(strata: Strata, level: float, replicates: int) -> Limits:
    """`scipy.stats.bootstrap` as it is without `batch`: all resamples of a stratum at once."""
    return _scipy(strata, level, replicates, None)


def arch(strata: Strata, level: float, replicates: int) -> Limits:
    """`arch.bootstrap.IndependentSamplesBootstrap`, the one that resamples each stratum by itself."""
    from arch.bootstrap import IndependentSamplesBootstrap

    def mean(*samples: npt.NDArray[np.float64]) -> float:
        return float(np.mean([s.mean() for s in samples]))

    resampled = IndependentSamplesBootstrap(*_samples(strata), seed=np.random.default_rng(SEED))
    ends = resampled.conf_int(mean, reps=replicates, method="percentile", size=1 - 2 * level)
    return float(ends[0, 0]), float(ends[1, 0])


def rliable(strata: Strata, level: float, replicates: int) -> Limits:
    """`rliable.library.StratifiedBootstrap`; it wants strata of one size, and draws from numpy's global state."""
    from rliable.library import StratifiedBootstrap

    np.random.seed(SEED)
    resampled = StratifiedBootstrap(np.stack(_samples(strata), axis=1))
    ends = resampled.conf_int(np.mean, reps=replicates, method="percentile", size=1 - 2 * level)
    return float(ends[0, 0]), float(ends[1, 0])


def _samples(strata: Strata) -> list[npt.NDArray[np.float64]]:
    return [gains / pairs for gains, pairs in strata]


def _ends(draws: npt.NDArray[np.float64], level: float) -> Limits:
    lo, hi = np.quantile(draws, [level, 1 - level])
    return float(lo), float(hi)


def _scipy(strata: Strata, level: float, replicates: int, batch: int | None) -> Limits:
    """Strata as separate samples, which scipy resamples independently."""
    from scipy.stats import bootstrap

    def mean(*samples: npt.NDArray[np.float64], axis: int) -> npt.NDArray[np.float64]:
        total: npt.NDArray[np.float64] = sum(s.mean(axis=axis) for s in samples) / len(samples)
        return total

    ends = bootstrap(
        _samples(strata),
        mean,
        n_resamples=replicates,
        batch=batch,
        vectorized=True,
        confidence_level=1 - 2 * level,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return float(ends.low), float(ends.high)


METHODS: dict[str, tuple[Method, str]] = {
    "exact": (exact, "stages.stats.interval"),
    "multinomial": (multinomial, "stages.stats.montecarlo"),
    "numpy indices": (numpy_indices, "numpy"),
    "scipy.stats.bootstrap": (scipy_tuned, "scipy.stats"),
    "scipy, default batch": (scipy_default, "scipy.stats"),
    "arch": (arch, "arch.bootstrap"),
    "rliable": (rliable, "rliable.library"),
}
"""Name of each method to its function and the module that holds what it measures."""
