"""Probabilities of a sum of integer draws, through the product of characteristic functions and one FFT.

Rounding must not grow with the number of draws. So where it is affordable, `phi - 1` is summed around the
mean from sines of half angles, which are accurate near zero frequency, and raised to the n-th power through
log1p: the error of a tail then grows like the square root of n. Where a draw has too many distinct values
for that, `phi` comes from an FFT and is squared repeatedly: the error is about n times 2e-16.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import scipy.fft

from stages.stats.draws import Steps

FloatArray = npt.NDArray[np.float64]
ComplexArray = npt.NDArray[np.complex128]

DIRECT = 2**20  # most (frequency, atom) pairs whose sines are computed one by one: some 20 ms
NEGLIGIBLE = 1e-20  # a factor this small can't move any probability by 1e-14 on 2**20 points


def fast_length(points: int) -> int:
    """The next length at or above `points` that the FFT is quick at."""
    return int(scipy.fft.next_fast_len(points, real=True))


def mass_function(steps: Sequence[Steps], length: int, start: int) -> FloatArray:
    """P(sum = start + i modulo `length`) for i in 0..length-1, shape (length,).

    Entries carry rounding noise of either sign, some 1e-17 each; sums over many stay below 1e-14.
    """
    # Widest first: its spectrum is the narrowest, and the others are then needed at a few frequencies only.
    # The rest of the key makes the order, and with it the last bit, independent of the order of the input.
    ordered = sorted(steps, key=lambda s: (-s.times * _spread(s), s.times, s.atoms, s.counts))
    where = np.arange(length // 2 + 1, dtype=np.int64)
    product: ComplexArray = np.ones(where.size, dtype=np.complex128)
    centre = Fraction(0)
    for part in ordered:
        factor, middle = _factor(part, where, length)
        product *= factor
        centre += middle
        alive = np.abs(product) > NEGLIGIBLE
        if 2 * int(alive.sum()) < where.size:
            where, product = where[alive], product[alive]
    turn = float((centre - start) % length)
    full = np.zeros(length // 2 + 1, dtype=np.complex128)
    full[where] = product * np.exp((-2j * math.pi * turn / length) * where)
    mass: FloatArray = scipy.fft.irfft(full, n=length)
    return mass


def _spread(part: Steps) -> float:
    """Variance of a single draw."""
    middle, n = float(part.centre), sum(part.counts)
    return sum(c * (a - middle) ** 2 for a, c in zip(part.atoms, part.counts, strict=True)) / n


def _factor(part: Steps, where: npt.NDArray[np.int64], length: int) -> tuple[ComplexArray | FloatArray, Fraction]:
    """E exp(-i theta (sum - middle)) at frequencies theta = 2 pi where / length, and that middle."""
    if where.size * len(part.atoms) > DIRECT:
        middle = round(part.centre)
        folded = np.zeros(length)
        np.add.at(folded, np.array([(a - middle) % length for a in part.atoms]), np.array(part.counts, float))
        phi = scipy.fft.rfft(folded / sum(part.counts))[where]
        return _squared(phi, part.times), Fraction(part.times * middle)
    angle: FloatArray = (math.pi / length) * where.astype(np.float64)
    if len(part.atoms) == 2 and part.counts[0] == part.counts[1]:
        return _coins(angle * abs(part.atoms[1] - part.atoms[0]), part.times), part.times * part.centre
    n, centre = sum(part.counts), part.centre
    real, imag = np.zeros(where.size), np.zeros(where.size)
    for atom, count in zip(part.atoms, part.counts, strict=True):
        half = angle * float(atom - centre)
        sine = np.sin(half)
        real -= (2 * count / n) * sine * sine
        imag -= (2 * count / n) * sine * np.cos(half)
    size = np.maximum(real * (2 + real) + imag * imag, -1.0)
    with np.errstate(divide="ignore"):  # phi = 0 where the logarithm is -inf, and its power is 0
        log_size = 0.5 * part.times * np.log1p(size)
    return np.exp(log_size) * np.exp(1j * (part.times * np.arctan2(imag, 1 + real))), part.times * centre


def _coins(angle: FloatArray, times: int) -> FloatArray:
    """cos(angle) ** times: the sum of that many fair coins, each at angle or -angle."""
    cosine: FloatArray = np.cos(angle)
    if times == 1:
        return cosine
    with np.errstate(divide="ignore"):
        size: FloatArray = np.exp(0.5 * times * np.log1p(-np.minimum(np.sin(angle) ** 2, 1.0)))
    return size * np.sign(cosine) if times % 2 else size


def _squared(base: ComplexArray, power: int) -> ComplexArray:
    """base ** power by repeated squaring, which needs no branch of the logarithm."""
    result = np.ones_like(base)
    while power:
        if power & 1:
            result = result * base
        base, power = base * base, power >> 1
    return result
