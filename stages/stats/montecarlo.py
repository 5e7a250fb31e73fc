"""The same bootstrap by resampling, an independent cross-check. It never decides: a seed can be shopped."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stages.stats.units import Design

CHUNK = 2**22  # most counts held at once


def multinomial_bootstrap(design: Design, replicates: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Summaries of `replicates` resamples, shape (replicates,).

    Drawing `n` units with replacement is drawing how often each distinct value comes: multinomial counts,
    which cost the same for a hundred items or a million.
    """
    total = np.zeros(replicates)
    for weight, stratum in design.weighted:
        chance = np.array(stratum.counts, dtype=np.float64) / stratum.n
        values = np.array([float(v) for v in stratum.values]) * (float(weight) / stratum.n)
        rows = max(1, CHUNK // chance.size)
        for start in range(0, replicates, rows):
            stop = min(start + rows, replicates)
            total[start:stop] += rng.multinomial(stratum.n, chance, size=stop - start) @ values
    return total
