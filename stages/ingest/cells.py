"""Cells of a table as typed values. A cell that isn't what it should be is refused with its row and column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, get_args

from stages.contract.errors import InputError
from stages.contract.protocol import QuotaState
from stages.ingest.lines import finite
from stages.ingest.model import STATUSES
from stages.ingest.secrets import clean
from stages.ingest.table_blocks import Block

_QUOTA = get_args(QuotaState)
_EVIDENCE = ("recorded", "exported", "asserted")
_FLAGS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
_STATUSES = {
    **{name: name for name in STATUSES},
    **{"pass": "passed", "fail": "failed", "resolved": "passed", "unresolved": "failed", "timed_out": "timeout"},
    **{"error": "aborted", "errored": "aborted", "aborted": "aborted"},
}
MAX_TEXT = 500
MAX_BLOB = 32 * 1024 * 1024


class _Refused(ValueError):
    """What was expected of a cell."""


def _name(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > MAX_TEXT:
        raise _Refused(f"one line of printable text, at most {MAX_TEXT} characters")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str | int | float) or value != value:
        raise _Refused("text")
    made = "".join(c if c.isprintable() else " " for c in str(value))
    if any("\ud800" <= c <= "\udfff" for c in made):
        raise _Refused("text that is valid Unicode")
    return clean(made)[:MAX_TEXT]


def _number(value: Any) -> float:
    if isinstance(value, str):
        try:
            value = float(value) if value.strip() == value and "_" not in value else None
        except ValueError:
            value = None
    made = float(value) if isinstance(value, Decimal) else finite(value)
    if made is None or made != made or abs(made) > 1e15:
        raise _Refused("a finite number")
    return made


def _amount(value: Any) -> float:
    made = _number(value)
    if made < 0:
        raise _Refused("a number from 0")
    return made


def _count(value: Any) -> int:
    made = _number(value)
    if made < 0 or made != int(made) or made >= 2**53:
        raise _Refused("a whole number from 0")
    return int(made)


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    found = _FLAGS.get(str(value).strip().lower()) if isinstance(value, str | int) else None
    if found is None:
        raise _Refused("true or false")
    return found


def _status(value: Any) -> str:
    found = _STATUSES.get(value.strip().lower()) if isinstance(value, str) else None
    if found is None:
        raise _Refused(f"one of {', '.join(sorted(_STATUSES))}")
    return found


def _one_of(words: Sequence[str]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            raise _Refused(f"one of {', '.join(words)}")
        return str(value)

    return read


def _moment(value: Any) -> str | None:
    """UTC text; None of a time without a zone, which can't be set against others."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            value = None
    if not isinstance(value, datetime) or not 1970 <= value.year < 9999:
        raise _Refused("a time in ISO 8601")
    if value.tzinfo is None:
        return None
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _blob(value: Any) -> bytes:
    if isinstance(value, bytes):
        made = value
    elif isinstance(value, str):
        try:
            made = value.encode()
        except UnicodeEncodeError:
            raise _Refused("text that is valid Unicode") from None
    else:
        raise _Refused("a unified diff as text")
    if len(made) > MAX_BLOB:
        raise _Refused(f"at most {MAX_BLOB:,} bytes")
    return made


_READERS: dict[str, Callable[[Any], Any]] = {
    "name": _name,
    "text": _text,
    "count": _count,
    "amount": _amount,
    "flag": _flag,
    "status": _status,
    "quota": _one_of(_QUOTA),
    "evidence": _one_of(_EVIDENCE),
    "moment": _moment,
    "blob": _blob,
}


class Cells:
    """The columns of one block."""

    def __init__(self, block: Block) -> None:
        self._block = block

    def read(self, name: str, kind: str) -> list[Any]:
        """A column's values, None where a cell is empty. Raises InputError naming row and column."""
        read, values = _READERS[kind], self._block.columns[name]
        known: dict[Any, Any] = {}  # few texts make up most columns
        plain: Any = {"count": int, "amount": float}.get(kind)  # most numbers are what they should be
        made: list[Any] = []
        try:
            for value in values:
                if value is None or value == "":
                    made.append(None)
                elif type(value) is plain and 0 <= value < 2**49:
                    made.append(value)
                elif type(value) is str and kind != "blob":
                    if value not in known:
                        if len(known) > 10_000:
                            known.clear()
                        known[value] = read(value)
                    made.append(known[value])
                else:
                    made.append(read(value))
        except _Refused as error:
            raise self._refused(name, len(made), error) from None
        return made

    def whole(self, name: str, made: Sequence[Any]) -> None:
        """Raise InputError where a column that every row must have is empty in one."""
        if None in made:
            raise InputError(f"{self._block.place(made.index(None))}: {name}", "no value", "one in every row")

    def passes(self, name: str, threshold: Fraction | None) -> tuple[list[Any], list[Any], list[int]]:
        """(statuses, scores, places of scores out of range) of a column of outcomes: flags, or numbers from 0 to 1."""
        statuses: list[str | None] = []
        scores: list[float | None] = []
        out: list[int] = []
        for at, value in enumerate(self._block.columns[name]):
            status, score = None, None
            if value is True or value is False:
                status = "passed" if value else "failed"
            elif value is None or value == "":
                pass
            elif type(value) is str and value.strip().lower() in ("pass", "passed", "fail", "failed"):
                status = _status(value)
            elif type(value) is str and value.strip().lower() in _FLAGS:
                status = "passed" if _FLAGS[value.strip().lower()] else "failed"
            else:
                try:
                    score = _number(value)
                except _Refused:
                    raise self._refused(name, at, _Refused("true, false, or a score from 0 to 1")) from None
                if not 0 <= score <= 1:
                    out.append(at)
                elif threshold is not None:
                    status = "passed" if Fraction(repr(score)) >= threshold else "failed"
                elif score in (0, 1):
                    status = "passed" if score else "failed"
                else:
                    raise InputError(
                        f"{self._block.place(at)}: {name}",
                        f"{score:g}, a fraction",
                        "0 or 1",
                        "say which scores pass with --threshold",
                    )
            statuses.append(status)
            scores.append(score)
        return statuses, scores, out

    def _refused(self, name: str, at: int, error: _Refused) -> InputError:
        return InputError(f"{self._block.place(at)}: {name}", f"{self._block.columns[name][at]!r:.100}", str(error))
