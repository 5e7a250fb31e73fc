"""How statistics become numbers on paper: six significant digits, the same on every machine."""

from __future__ import annotations

import math
from fractions import Fraction

SMALLEST_P = 1e-12  # below this the FFT's own rounding is no longer negligible


def sig6(x: float | Fraction) -> float:
    """`x` rounded to six significant digits; negative zero becomes zero.

    Raises ValueError for NaN and infinities: an unknown figure is `None` and a reason, never a NaN.
    """
    value = float(x)
    if not math.isfinite(value):
        raise ValueError(f"not a finite number: {x!r}")
    return float(f"{value:.6g}") + 0.0


def show_p(p: float) -> str:
    """A p-value for people: six significant digits, `<1e-12` below what is resolved."""
    return "<1e-12" if p < SMALLEST_P else f"{sig6(p):.6g}"
