"""How much of alpha a study may spend, and what few placebos and few exclusions can show."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.special

ASYMMETRY_LEVEL = 0.01


def alpha_look(alpha: Fraction, look: int) -> Fraction:
    """Alpha of look `look` = 1, 2, ...: 4/5 of it for the first, then 1/5 * 1 / (l (l - 1)).

    Over all looks that ever come it adds up to alpha (alpha spending, Lan and DeMets 1983). Raises
    ValueError for alpha outside of (0, 1) or a look below 1.
    """
    if not 0 < alpha < 1 or not isinstance(look, int) or look < 1:
        raise ValueError(f"alpha must lie between 0 and 1, and look be 1 or more: {alpha}, {look}")
    if look == 1:
        return Fraction(4, 5) * alpha
    return alpha / 5 / (look * (look - 1))


def alpha_spent(alpha: Fraction, look: int, family: int) -> Fraction:
    """`alpha_look / family`, with `family` the number of candidates that may be tried (Bonferroni)."""
    if family < 1:
        raise ValueError(f"a family has at least one member: {family}")
    return alpha_look(alpha, look) / family


def placebo_bound(trials: int, passed: int = 0, confidence: float = 0.95) -> float:
    """Upper bound of the rate at which the oracle passes what it must fail (Clopper and Pearson 1934).

    One-sided; with none passed it is `1 - (1 - confidence) ** (1 / trials)`. 1 without trials. Raises
    ValueError unless 0 <= passed <= trials.
    """
    if not 0 <= passed <= trials:
        raise ValueError(f"{passed} passes of {trials} trials")
    if passed == trials:
        return 1.0
    return float(scipy.special.betaincinv(passed + 1, trials - passed, confidence))


@dataclass(frozen=True, slots=True)
class Asymmetry:
    """Two-sided `p` that exclusions fell on both arms alike; `could_fire`: could any split give p <= .01?"""

    p: float
    could_fire: bool


def exclusion_asymmetry(excluded: tuple[int, int], planned: tuple[int, int]) -> Asymmetry:
    """Fisher's exact test of excluded against planned trials, both as (candidate, control).

    Two-sided: all splits that are no more likely than the observed one. No exclusions give p = 1. Raises
    ValueError unless 0 <= excluded <= planned in both arms.
    """
    if any(not 0 <= e <= n for e, n in zip(excluded, planned, strict=True)):
        raise ValueError(f"excluded {excluded} of planned {planned}")
    total, (ours, theirs) = sum(excluded), planned
    first = max(0, total - theirs)
    splits = np.arange(first, min(total, ours) + 1)
    log = _log_choose(ours, splits) + _log_choose(theirs, total - splits)
    chance = np.exp(log - log.max())
    chance /= chance.sum()
    # Equally likely splits differ by rounding of the logarithms; scipy.stats.fisher_exact allows the same.
    p = [float(chance[chance <= chance[i] * (1 + 1e-7)].sum()) for i in (excluded[0] - first, 0, -1)]
    return Asymmetry(min(p[0], 1.0), min(p) <= ASYMMETRY_LEVEL)


def _log_choose(n: int, k: np.typing.NDArray[np.int64]) -> np.typing.NDArray[np.float64]:
    """log(n choose k), shape of k."""
    table: np.typing.NDArray[np.float64] = scipy.special.gammaln(np.array([k + 1.0, n - k + 1.0])).sum(axis=0)
    return float(scipy.special.gammaln(n + 1)) - table
