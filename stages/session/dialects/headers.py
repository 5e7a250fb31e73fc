"""Headers by name, and the many ways to write a time to wait."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from stages.session.exchange import Headers

_PARTS = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)(ns|us|µs|ms|s|m|h|d)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?")
_LONGEST_S = 1e10
_EPOCH_S = 1e9  # a bare number from here on is a date (2001 or later)
_EPOCH_MS = 1e11


def every(headers: Headers, name: str) -> list[str]:
    """The distinct values of a header, in their order."""
    return list(dict.fromkeys(value.strip() for key, value in headers if key.lower() == name))


def one(headers: Headers, *names: str) -> str | None:
    """The value of the first of these headers that is there; None too where it says two different things."""
    for name in names:
        values = every(headers, name)
        if values:
            return values[0] if len(values) == 1 else None
    return None


def plain_number(value: str | None) -> float | None:
    """A header's number, negative ones too; None for what is none."""
    return float(value) if value is not None and _NUMBER.fullmatch(value) else None


def moment(value: str | None) -> datetime | None:
    """An HTTP date or an ISO 8601 one, in UTC where it names no zone."""
    if not value or len(value) > 60:
        return None
    try:
        found = datetime.fromisoformat(value) if value[:4].isdigit() else parsedate_to_datetime(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def seconds(value: str, now: datetime, unit: float = 1.0) -> float | None:
    """Seconds from `now`: of `6m0s`, `120ms`, a bare number of `unit` seconds, an epoch, an HTTP or ISO date.

    A date that has passed is 0 s away. None for what is none of these.
    """
    bare = plain_number(value)
    if bare is not None:
        if bare >= _EPOCH_S:
            bare, unit = max(bare / (1000 if bare >= _EPOCH_MS else 1) - now.timestamp(), 0.0), 1.0
        found = bare * unit
    elif "".join(m[0] for m in _PARTS.finditer(value)) == value and value:
        found = sum(float(m[1]) * _SECONDS[m[2]] for m in _PARTS.finditer(value))
    else:
        then = moment(value)
        if then is None:
            return None
        found = max((then - now).total_seconds(), 0.0)
    return round(found, 9) if 0 <= found <= _LONGEST_S else None


def clock(headers: Headers, started: datetime) -> datetime:
    """The answer's own date, since its resets count from it; else when the request started."""
    return moment(one(headers, "date")) or started
