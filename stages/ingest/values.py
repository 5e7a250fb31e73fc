"""Values of foreign logs: names, texts without secrets, numbers, times and scores; and rows with their repeats.

Null and absent are unknown. A value of a wrong type is refused, never read as something else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pyarrow as pa

from stages.contract.errors import InputError
from stages.contract.text import kind
from stages.ingest import secrets
from stages.ingest.lines import finite
from stages.ingest.model import Notes, Rows

MAX_NAME = 500
MAX_REASON = 200
OUT_OF_RANGE = "score out of range"
_LOOKED_AT = 2_000
_SECRETS = re.compile(
    r"""(?xi)
      \b(?: sk | pk | rk | xox[abeprs] | glpat | dckr_pat )-[\w.-]{8,}
    | \b(?: gh[opsur] | hf | github_pat | gsk | npm | r8 )_\w{16,} | \bpypi-[\w-]{16,}
    | \b(?: AKIA | ASIA ) [0-9A-Z]{12,} | \bAIza[\w-]{20,} | \beyJ[\w-]{8,}(?:\.[\w-]+){0,2}
    | \b(?: bearer | basic ) \s+ [\w.~+/=-]{6,}
    | \b[\w-]{0,40}(?: api[_-]?key | token | secret | passw(?:or)?d | credential | authorization | cookie )
      [\w-]{0,20} ["']? \s* [:=] \s* ["']? (?: (?:bearer|basic|token) \s+ )? [^\s"',;}]+
    | (?<=://) [^\s/@]+ @
    | [\w.+-]{1,64} @ [\w-]{1,64} (?: \.[\w-]{1,64} ){1,8}
    | \b(?-i: (?=[A-Za-z]*\d) (?=[a-z0-9]*[A-Z]) (?=[A-Z0-9]*[a-z]) [A-Za-z0-9]{32,} )
    """
)


def name(where: object, value: Any, what: str) -> str:
    """An id that must be there: one line of printable text, or a whole number. Raises InputError."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return str(value)
    if not isinstance(value, str):
        raise InputError(where, f"{what} is {kind(value)}", "text")
    if not value.strip() or not value.isprintable() or len(value) > MAX_NAME:
        raise InputError(where, f"{what} is {value!r:.80}", f"a line of 1 to {MAX_NAME} printable characters")
    return value


def identity(where: object, value: Any, what: str) -> str | None:
    """An id or digest, whole: nothing is cut, lest two become one. None where there is none. Raises InputError."""
    return None if value is None or value == "" else name(where, value, what)


def label(where: object, value: Any, what: str) -> str | None:
    """One line of text with secrets cut, None where there is none. Raises InputError for anything but text."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InputError(where, f"{what} is {kind(value)}", "text")
    return clean(value)


def clean(text: str) -> str | None:
    """The first line that isn't blank, of a traceback the last: secrets cut, at most 200 characters."""
    lines = [line.strip() for line in text[: 64 * _LOOKED_AT].splitlines() if line.strip()]
    if not lines:
        return None
    line = text.rstrip()[-_LOOKED_AT:].splitlines()[-1].strip() if lines[0].startswith("Traceback") else lines[0]
    if len(line) > _LOOKED_AT:
        line = line[:_LOOKED_AT].rsplit(None, 1)[0]  # half of a secret wouldn't be known as one
    line = secrets.clean(_SECRETS.sub("[cut]", line), "[cut]")
    shown = "".join(c if c.isprintable() else " " for c in line)[:MAX_REASON].strip()
    return shown or None


def count(where: object, value: Any, what: str) -> int | None:
    """A whole number from 0. Raises InputError."""
    made = finite(value)
    if value is None:
        return None
    if made is None or made < 0 or made != int(made) or made >= 2**53:
        raise InputError(where, f"{what} is {value!r:.60}", "a whole number from 0")
    return int(made)


def amount(where: object, value: Any, what: str) -> float | None:
    """A number from 0; one that is negative or not finite is unknown. Raises InputError for what is no number."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(where, f"{what} is {kind(value)}", "a number")
    made = finite(value)
    return made if made is not None and made >= 0 else None


def mapping(where: object, value: Any, what: str) -> dict[str, Any]:
    """An object, empty where there is none. Raises InputError."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(where, f"{what} is {kind(value)}", "an object")
    return value


def moment(where: object, value: Any, what: str) -> datetime | None:
    """A time, with its zone if it has one. Raises InputError for what is no time."""
    if value is None or value == "":
        return None
    try:
        made = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except ValueError:
        made = None
    if made is None or not 1970 < made.year < 9999:
        raise InputError(where, f"{what} is {value!r:.60}", "a time in ISO 8601")
    return made


def utc(made: datetime | None) -> str | None:
    """A time as UTC text; None of one without a zone, which stands nowhere among others."""
    if made is None or made.tzinfo is None:
        return None
    return made.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def span(start: datetime | None, end: datetime | None) -> float | None:
    """Seconds between two times that both have a zone, or both none; None if the clock went back."""
    if start is None or end is None or (start.tzinfo is None) != (end.tzinfo is None):
        return None
    seconds = (end - start).total_seconds()
    return seconds if seconds >= 0 else None


def graded(
    where: object, value: Any, threshold: Fraction | None, what: str
) -> tuple[str | None, str | None, float | None]:
    """(status, why there is none, score) of a score from 0 to 1. Raises InputError for a fraction without threshold."""
    if value is None:
        return None, f"no {what}", None
    if isinstance(value, bool):
        value = int(value)
    if not isinstance(value, int | float):
        raise InputError(where, f"{what} is {kind(value)}", "a number from 0 to 1")
    if isinstance(value, float) and math.isnan(value):
        return None, f"{what} is not a number", None
    score = finite(value)
    if score is None or not 0 <= score <= 1:
        return None, f"{OUT_OF_RANGE}: {what}", score
    if threshold is not None:
        return ("passed" if Fraction(repr(score)) >= threshold else "failed"), None, score
    if score not in (0, 1):
        raise InputError(where, f"{what} is {score:g}, a fraction", "0 or 1", "say which scores pass with --threshold")
    return ("passed" if score else "failed"), None, score


def infrastructure(texts: Sequence[str | None], declared: Sequence[str]) -> bool:
    """Whether an error is one that was declared to be the harness's own fault: it holds a declared text."""
    return any(said in text for text in texts if text for said in declared if said)


def field_of(record: Any, path: str) -> Any:
    """What stands at a dotted path; None where nothing does."""
    for part in path.split("."):
        record = record.get(part) if isinstance(record, dict) else None
    return record


def stratum(where: object, record: Any, path: str | None) -> str | None:
    """The stratum that a field of the log names. Raises InputError where that is no name."""
    found = None if path is None else field_of(record, path)
    return None if found is None else name(where, found, f"{path}")


class Trials:
    """Rows with their repeats: the trials of an item in an arm are numbered from 0, the same trial gets its number."""

    def __init__(self) -> None:
        self._rows = Rows()
        self._numbers: dict[tuple[str, str | None], dict[Hashable, int]] = {}
        self._later: dict[tuple[str, str], list[str]] = {}
        self.count = 0
        self.said = 0

    def add(self, key: Hashable, *, item_id: str, arm: str | None = None, **values: Any) -> None:
        """One trial. `key` tells the trials of an item apart."""
        numbers = self._numbers.setdefault((item_id, arm), {})
        repeat = numbers.setdefault(key, len(numbers))
        values["reason"] = clean(values.get("reason") or "")
        if values.get("status") is None:
            out = (values["reason"] or "").startswith(OUT_OF_RANGE)
            self.later("score_out_of_range" if out else "not_scored", "trials without an outcome", item_id)
        self._rows.add(item_id=item_id, arm=arm, repeat=repeat, **values)
        self.count += 1

    def later(self, kind_: str, found: str, item: str) -> None:
        """A finding that many trials may have: they are noted as one."""
        self._later.setdefault((kind_, found), []).append(item)
        self.said += 1

    def note(self, notes: Notes, where: object) -> None:
        """Note what was found since the last time."""
        for (kind_, found), items in sorted(self._later.items()):
            more = ", …" if len(items) > 3 else ""
            notes.add(kind_, where, f"{len(items)} {found}: {', '.join(items[:3])}{more}", len(items), items)
        self._later.clear()

    def table(self) -> pa.Table:
        """All rows."""
        return self._rows.table()


class Facts:
    """What a log says of its arms; where it says several things of one, all are said."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, set[str]]] = {}

    def add(self, arm: str | None, **facts: str | None) -> None:
        """Facts of an arm; None is nothing."""
        own = self._said.setdefault(arm or "", {})
        for key, value in facts.items():
            if value:
                own.setdefault(key, set()).add(value)

    def made(self) -> dict[str, dict[str, str]]:
        """Arm to facts."""
        return {arm: {k: " and ".join(sorted(v)[:5]) for k, v in own.items()} for arm, own in self._said.items()}
