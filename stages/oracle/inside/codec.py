"""Values as JSON and back: what may cross between the tests and the code under test. Nothing of it is ever executed.

A value goes as itself (None, booleans, short integers, text) or as a list that begins with a tag. What is read is
exactly of a built-in type, whatever class the sender's value had: `==` on it is Python's own.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePosixPath
from typing import Any
from uuid import UUID

DEEPEST = 64
MOST_NODES = 500_000
MOST_BYTES = 16_000_000

_SHORT = 1 << 53
_FAULTS = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError, MemoryError)


class Uncarried(Exception):
    """A value that can't cross; the text says what it is."""


class Malformed(Exception):
    """A message that no honest side sends."""


def kind(value: object) -> str:
    """The name of a value's class."""
    one = type(value)
    return f"{one.__module__}.{one.__qualname__}"


def encode(value: Any, other: Callable[[Any, Callable[[Any], Any]], Any]) -> Any:
    """A value as what JSON can hold. Subclasses of built-in types go as their base.

    `other(value, encode)` gives what a further kind of value becomes, or raises Uncarried.
    """
    left = [MOST_NODES]

    def at(depth: int) -> Callable[[Any], Any]:
        return lambda one: walk(one, depth)

    def walk(one: Any, depth: int) -> Any:
        left[0] -= 1
        if depth > DEEPEST or left[0] < 0:
            raise Uncarried("a value that is too deep or too large")
        exact = type(one)
        if one is None or exact is bool:
            return one
        simple = _SIMPLE.get(exact)
        if simple is not None:
            return simple(one)
        made = other(one, at(depth + 1))
        if made is not None:
            return made
        for base, tag in _MANY.items():
            if isinstance(one, base):
                return [tag, *(walk(inner, depth + 1) for inner in type.__getattribute__(base, "__iter__")(one))]
        if isinstance(one, dict):
            pairs = list(dict.items(one))
            return ["d", *([walk(key, depth + 1), walk(inner, depth + 1)] for key, inner in pairs)]
        for base, text in _BASES:
            if isinstance(one, base):
                return text(one)
        raise Uncarried(f"an instance of {kind(one)}")

    return walk(value, 0)


def decode(sent: Any, other: Callable[[list[Any], Callable[[Any], Any]], Any]) -> Any:
    """The value that was sent. Raises Malformed. `other(sent, decode)` reads tags that are none of these."""

    def walk(one: Any) -> Any:
        if one is None or type(one) in (bool, int, str):
            return one
        if type(one) is not list or not one or type(one[0]) is not str:
            raise Malformed("a value without its tag")
        tag, *rest = one
        if tag in _HOLD:
            return _HOLD[tag](walk(inner) for inner in rest)
        if tag == "d":
            return {walk(key): walk(inner) for key, inner in rest}
        return _READ[tag](*rest) if tag in _READ else other(one, walk)

    try:
        return walk(sent)
    except _FAULTS as error:
        raise Malformed(f"a value that isn't one: {type(error).__name__}") from None


def frame(message: Any) -> bytes:
    """A message as bytes: its length, then JSON. Raises Uncarried when it is too long."""
    body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    if len(body) > MOST_BYTES:
        raise Uncarried("a value that is too large")
    return len(body).to_bytes(4, "big") + body


def unframe(read: Callable[[int], bytes]) -> Any:
    """The next message. `read(n)` gives up to n bytes, none at the end: EOFError. Raises Malformed."""
    size = int.from_bytes(_exactly(read, 4), "big")
    if size > MOST_BYTES:
        raise Malformed("a message that is too long")
    try:
        return json.loads(_exactly(read, size), parse_constant=_refused, parse_float=_refused)
    except (ValueError, RecursionError, MemoryError) as error:
        raise Malformed(f"a message that isn't one: {type(error).__name__}") from None


def _refused(_: str) -> Any:
    raise ValueError("a number that is sent otherwise")


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < size:
        piece = read(min(size - len(pieces), 1 << 20))
        if not piece:
            raise EOFError
        pieces += piece
    return bytes(pieces)


def _whole(value: int) -> Any:
    value = int.__add__(value, 0)
    return value if -_SHORT < value < _SHORT else ["i", hex(value)]


def _text(value: str) -> Any:
    value = str.__str__(value)
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON would join two halves of a pair
        return ["S", base64.b64encode(value.encode("utf-8", "surrogatepass")).decode()]
    return value


def _moment(value: datetime) -> Any:
    if value.tzinfo is not None and type(value.tzinfo) is not timezone:
        raise Uncarried(f"a time zone of {kind(value.tzinfo)}")
    if value.tzinfo is not None and value.tzinfo.tzname(None) != timezone(value.utcoffset() or timedelta()).tzname(
        None
    ):
        raise Uncarried("a time zone with a name of its own")
    return ["T", value.isoformat(), value.fold]


def _clock(value: time) -> Any:
    if value.tzinfo is not None:
        raise Uncarried("a time of day with a time zone")
    return ["C", value.isoformat(), value.fold]


def _bytes(tag: str) -> Callable[[Any], Any]:
    return lambda value: [tag, base64.b64encode(bytes.__add__(b"", value)).decode()]


def _unbytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _real(value: float) -> Any:
    return ["f", float.hex(value)]


_SIMPLE: dict[type, Callable[[Any], Any]] = {
    int: _whole, str: _text, float: _real, bytes: _bytes("b"), bytearray: _bytes("B"),
    complex: lambda value: ["c", value.real.hex(), value.imag.hex()],
    datetime: _moment, time: _clock,
    date: lambda value: ["D", value.isoformat()],
    timedelta: lambda value: ["L", value.days, value.seconds, value.microseconds],
    Decimal: lambda value: ["n", str(value)],
    Fraction: lambda value: ["q", hex(value.numerator), hex(value.denominator)],
    range: lambda value: ["r", *(hex(edge) for edge in (value.start, value.stop, value.step))],
    PosixPath: lambda value: ["p", _text(str(value))],
    PurePosixPath: lambda value: ["P", _text(str(value))],
    UUID: lambda value: ["u", value.hex],
}  # fmt: skip
_MANY: dict[type, str] = {list: "l", tuple: "t", set: "s", frozenset: "z"}
_BASES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, _whole), (str, _text), (float, _real), (bytes, _bytes("b")),
)  # fmt: skip
_HOLD: dict[str, Callable[[Iterator[Any]], Any]] = {"l": list, "t": tuple, "s": set, "z": frozenset}


def _surrogates(text: str) -> str:
    return _unbytes(text).decode("utf-8", "surrogatepass")


def _path(of: Callable[[str], Any]) -> Callable[[Any], Any]:
    return lambda text: of(text if type(text) is str else _surrogates(text[1]))


_READ: dict[str, Callable[..., Any]] = {
    "i": lambda text: int(text, 16),
    "S": _surrogates,
    "f": float.fromhex,
    "b": _unbytes,
    "B": lambda text: bytearray(_unbytes(text)),
    "c": lambda real, imag: complex(float.fromhex(real), float.fromhex(imag)),
    "T": lambda text, fold: datetime.fromisoformat(text).replace(fold=fold),
    "C": lambda text, fold: time.fromisoformat(text).replace(fold=fold),
    "D": date.fromisoformat,
    "L": timedelta,
    "n": Decimal,
    "q": lambda over, under: Fraction(int(over, 16), int(under, 16)),
    "r": lambda *edges: range(*(int(edge, 16) for edge in edges)),
    "p": _path(PosixPath),
    "P": _path(PurePosixPath),
    "u": lambda text: UUID(hex=text),
}
