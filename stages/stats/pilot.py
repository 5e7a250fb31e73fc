"""What a pilot says about the spread of a study: rates, noise of a pair, true differences between items."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.special

from stages.stats.fmt import sig6

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pilot:
    """Estimates from kept pairs, with how many items they rest on.

    `p` the control's rate; `sd` of the items' differences between `sd_lo` and `sd_hi` (95 %, by chi^2, which takes them
    for normal); `omega_squared` the noise of one pair, over the `repeated` items with two pairs or more; `icc` of the
    control; `tau_squared` the variance of true differences. Where no item has two pairs, `icc` and `omega_squared` are
    None and the total variance stands as it is for `tau_squared`, so that repeats seem to buy nothing.
    """

    items: int
    repeated: int
    p: float
    sd: float
    sd_lo: float
    sd_hi: float
    icc: float | None
    omega_squared: float | None
    tau_squared: float


def estimate_pilot(candidate: IntArray, control: IntArray, pairs: IntArray) -> Pilot:
    """Estimate from passes of each arm out of an item's kept `pairs`, each of shape (items,).

    `omega^2 = 2 mean[k / (k - 1) p (1 - p)]` over items with k >= 2 and both arms; `tau^2 = max(0, var(d) - omega^2
    mean(1 / k))`. Raises ValueError for fewer than two items, an item without pairs, or passes that aren't among them.
    """
    both, k = np.array([candidate, control], dtype=np.float64), np.asarray(pairs, dtype=np.float64)
    if both.shape != (2, k.size) or k.size < 2 or k.min() < 1:
        raise ValueError("a pilot needs two items or more, each with a kept pair")
    if (both < 0).any() or (both > k).any():
        raise ValueError("passes lie between 0 and the number of pairs")
    rates, n = both / k, k.size
    differences = rates[0] - rates[1]
    variance = float(differences.var(ddof=1))
    # Bounds of the variance of n normal values: (n - 1) s^2 over quantiles of chi^2.
    half = (n - 1) / 2
    low, high = (float(scipy.special.gammaincinv(half, q)) / half for q in (0.025, 0.975))
    several = k >= 2
    p, noise, icc, tau = float(rates[1].mean()), None, None, variance
    if several.any():
        m = k[several]
        within = (m / (m - 1) * rates[:, several] * (1 - rates[:, several])).mean(axis=1)
        noise = float(within.sum())
        tau = max(0.0, variance - noise * float((1 / k).mean()))
        total = p * (1 - p) + float(rates[1].var(ddof=1)) / n  # p (1 - p) of an estimated p is short by its variance
        icc = min(max(1 - float(within[1]) / total, 0.0), 1.0) if total > 0 else None
    return Pilot(
        items=n,
        repeated=int(several.sum()),
        p=sig6(p),
        sd=sig6(math.sqrt(variance)),
        sd_lo=sig6(math.sqrt(variance / high)),
        sd_hi=sig6(math.sqrt(variance / low)),
        icc=None if icc is None else sig6(icc),
        omega_squared=None if noise is None else sig6(noise),
        tau_squared=sig6(tau),
    )
