"""Digests and rationals: RFC 8785 canonical JSON, sha256, decimals read exactly."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import rfc8785

_MAX_DIGITS = 40


def sha256(data: bytes) -> str:
    """Full lowercase hex sha256."""
    return hashlib.sha256(data).hexdigest()


def file_sha256(path: Path) -> str:
    """sha256 of a file, read in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def canonical(value: Any) -> bytes:
    """RFC 8785 canonical JSON. Raises on NaN, infinity and integers beyond 2**53."""
    return rfc8785.dumps(value)


def digest(value: Any) -> str:
    """sha256 of the canonical JSON of a value."""
    return sha256(canonical(value))


def pretty(value: Any) -> bytes:
    """JSON for people and for git: keys sorted, two spaces, one final newline. Same value, same bytes."""
    canonical(value)  # refuses what has no canonical form
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def short(hexdigest: str) -> str:
    """The first 16 digits, as printed for people."""
    return hexdigest[:16]


def rational(value: Any) -> Fraction:
    """Read a number exactly: integer, decimal, or a string such as "0.05" or "1/3".

    Raises ValueError for booleans, NaN, infinities and numbers of more than 40 digits.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise ValueError("a boolean is no number")
    if isinstance(value, str):
        top, slash, bottom = value.strip().partition("/")
        if slash:
            below = rational(bottom)
            if below == 0:
                raise ValueError("division by zero")
            return rational(top) / below
    elif not isinstance(value, int | float | Decimal):
        raise ValueError("no number")
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        raise ValueError("no number") from None
    if not number.is_finite():
        raise ValueError("not a finite number")
    _, digits, exponent = number.as_tuple()
    if len(digits) > _MAX_DIGITS or not -_MAX_DIGITS <= int(exponent) <= _MAX_DIGITS:
        raise ValueError(f"more than {_MAX_DIGITS} digits")
    return Fraction(number)


def rational_text(value: Fraction) -> str:
    """The one text of a rational: a terminating decimal where there is one, else p/q."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    with localcontext(prec=4 * _MAX_DIGITS):
        text = format(Decimal(value.numerator) / Decimal(value.denominator), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
