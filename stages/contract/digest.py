"""Digests and rationals: RFC 8785 canonical JSON, sha256, decimals read exactly."""

from __future__ import annotations

import hashlib
import json
import re
from decimal import Decimal, InvalidOperation
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


def canonical_texts(value: list[Any]) -> bytes:
    """The same of nested lists that hold nothing but texts and small whole numbers, an order of magnitude sooner.

    RFC 8785 only differs from what `json` writes in its numbers and in the order of keys.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


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


_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)


def rational(value: Any) -> Fraction:
    """Read a number exactly: integer, decimal, or a string such as "0.05" or "1/3".

    Raises ValueError for booleans, NaN, infinities and numbers beyond 10**40, or in steps finer than that.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise ValueError("a boolean is no number")
    if not isinstance(value, str | int | float | Decimal):
        raise ValueError("no number")
    if isinstance(value, int) and abs(value) >= 10**_MAX_DIGITS:  # its text would be refused by Python itself
        raise ValueError(f"more than {_MAX_DIGITS} digits")
    top, slash, bottom = str(value).strip().partition("/")
    above, below = _decimal(top), _decimal(bottom) if slash else Fraction(1)
    if below == 0:
        raise ValueError("division by zero")
    result = above / below
    if abs(result.numerator) >= 10**_MAX_DIGITS or result.denominator > 10**_MAX_DIGITS:
        raise ValueError(f"more than {_MAX_DIGITS} digits")
    return result


def _decimal(text: str) -> Fraction:
    if text.strip().lower().lstrip("+-") in ("nan", "snan", "inf", "infinity"):
        raise ValueError("not a finite number")
    if len(text) > 4 * _MAX_DIGITS or not _NUMBER.fullmatch(text.strip()):
        raise ValueError("no number")
    try:
        _, digits, exponent = Decimal(text.strip()).as_tuple()
    except InvalidOperation:  # an exponent beyond all bounds
        digits, exponent = (), _MAX_DIGITS + 1
    if len(digits) > _MAX_DIGITS or not -_MAX_DIGITS <= int(exponent) <= _MAX_DIGITS:
        raise ValueError(f"more than {_MAX_DIGITS} digits")
    return Fraction(text.strip())


def rational_text(value: Fraction) -> str:
    """The one text of a rational: a decimal if there is one of at most 40 digits, else p/q. `rational` reads both."""
    rest, places = value.denominator, 0
    for prime in (2, 5):
        times = 0
        while rest % prime == 0:
            rest, times = rest // prime, times + 1
        places = max(places, times)
    digits = str(abs(value.numerator) * 10**places // value.denominator).zfill(places + 1)
    if rest != 1 or places > _MAX_DIGITS or len(digits.lstrip("0")) > _MAX_DIGITS:
        return f"{value.numerator}/{value.denominator}"
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"
