"""Files of text and JSON, read safely: regular files of bounded size, UTF-8 only, strict JSON.

Line ends are left alone: CRLF is white space in YAML and JSON, and bytes like any others everywhere else.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from stages.contract import limits
from stages.contract.errors import InputError, MissingInput


def read_bytes(path: Path, limit: int, what: str = "a file") -> bytes:
    """Bytes of a regular file of at most `limit` bytes. Raises MissingInput or InputError."""
    try:
        if path.is_dir():
            raise InputError(path, "is a folder", what)
        if not path.exists():
            raise MissingInput(path, "doesn't exist", what)
        if not path.is_file():
            raise InputError(path, "is no regular file", what)
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise InputError(path, f"can't be read ({error.strerror})", what) from None
    if len(data) > limit:
        raise InputError(path, f"is larger than {limit:,} bytes", f"at most {limit:,}")
    return data


def decode(path: object, data: bytes) -> str:
    """UTF-8 text. A byte-order mark and NUL bytes are refused, since tools disagree on them."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start} isn't UTF-8", "UTF-8 text", "save it as UTF-8") from None
    if text.startswith("\ufeff"):
        raise InputError(path, "starts with a byte-order mark", "plain UTF-8", "save it without a BOM")
    if "\0" in text:
        raise InputError(path, "has a NUL character", "text")
    return text


def kind(value: Any) -> str:
    """What a parsed value is, for people."""
    names = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean", type(None): "nothing"}
    return names.get(type(value), "a number")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice")
    return result


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large a number")
    return value


def _integer(text: str) -> int:
    if len(text) > 17 or abs(int(text)) >= 2**53:
        raise ValueError(f"{text[:40]} is an integer that readers of JSON don't agree on")
    return int(text)


def _check_shape(value: Any) -> None:
    level = [value]
    for _ in range(limits.MAX_JSON_DEPTH):
        level = [
            below
            for one in level
            for below in (one.values() if isinstance(one, dict) else one)
            if isinstance(below, dict | list)
        ]
        if not level:
            return
    raise ValueError(f"nested deeper than {limits.MAX_JSON_DEPTH}")


_STRICT = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, parse_int=_integer)


def parse_json(where: object, data: bytes) -> Any:
    """Strict JSON: finite numbers, integers below 2**53, no repeated keys, bounded depth, whole Unicode.

    What this returns has a canonical form. Raises InputError.
    """
    text = decode(where, data)
    try:
        value = _STRICT.decode(text)
        if text.count("{") + text.count("[") > limits.MAX_JSON_DEPTH and isinstance(value, dict | list):
            _check_shape(value)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except (ValueError, RecursionError) as error:
        raise InputError(where, f"can't be read as JSON: {error}", "strict JSON") from None
    return value


def read_json(path: Path, limit: int = limits.MAX_JSON_BYTES) -> dict[str, Any]:
    """A JSON file whose top level is an object."""
    value = parse_json(path, read_bytes(path, limit, "a JSON file"))
    if not isinstance(value, dict):
        raise InputError(path, f"holds {kind(value)} at the top", "an object")
    return value
