"""Logs read piece by piece: the first bytes, lines of JSON, and what a torn end looks like. Everything is bounded."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stages.contract.errors import InputError, MissingInput
from stages.contract.text import parse_json
from stages.ingest.model import Notes

MAX_LINE_BYTES = 64 * 1024 * 1024


def peek(path: Path, most: int = 65_536) -> bytes:
    """The first bytes of a regular file; none of anything else."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as stream:
            return stream.read(most)
    except OSError:
        return b""


def check_file(path: Path, what: str) -> None:
    """Raise MissingInput or InputError unless a path is a regular file that isn't empty."""
    if path.is_dir():
        raise InputError(path, "is a folder", what)
    if not path.exists():
        raise MissingInput(path, "doesn't exist", what)
    if not path.is_file():
        raise InputError(path, "is no regular file", what)
    if path.stat().st_size == 0:
        raise InputError(path, "is empty", what)


def raw_lines(path: Path, what: str, most: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes, bool]]:
    """(number, line without its end, whether an end was there) of each line that isn't blank. Raises InputError."""
    check_file(path, what)
    try:
        with path.open("rb") as stream:
            number = 0
            while line := stream.readline(most + 2):
                number += 1
                if len(line) > most + 1:
                    raise InputError(f"{path}: line {number}", f"longer than {most:,} bytes", what)
                text = line.strip(b"\r\n \t")
                if text:
                    yield number, text, line.endswith(b"\n")
    except OSError as error:
        raise InputError(path, f"can't be read ({error.strerror})", what) from None


def json_lines(path: Path, what: str, notes: Notes, most: int = MAX_LINE_BYTES) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number, object) of each line. A last line that is cut off is noted as torn; a bad line elsewhere is refused.

    Strict JSON: NaN, repeated keys and integers beyond 2**53 are refused. Raises InputError naming the line.
    """
    for number, line, ended in raw_lines(path, what, most):
        try:
            value = parse_json(f"{path}: line {number}", line)
        except InputError:
            if ended or number == 1:
                raise
            notes.add("torn_line", path.name, f"line {number} is cut off after {len(line)} bytes")
            return
        if not isinstance(value, dict):
            raise InputError(f"{path}: line {number}", "no object", what)
        yield number, value


def parse_lenient(where: object, data: bytes) -> Any:
    """JSON as harnesses of today write it: the constants NaN and Infinity become floats, integers may be large.

    Repeated keys and bytes that aren't UTF-8 are refused. Raises InputError.
    """
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise InputError(where, f"can't be read as JSON: {error}", "a JSON document") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def finite(value: Any) -> float | None:
    """A finite number as a float; None of anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        made = float(value)
    except OverflowError:
        return None
    return made if math.isfinite(made) else None
