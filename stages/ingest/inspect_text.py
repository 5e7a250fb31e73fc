"""Typed values out of an Inspect log, and texts that are fit to leave it: one line, no keys, no addresses."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from stages.contract.errors import InputError
from stages.contract.text import kind
from stages.ingest import secrets

MAX_NAME = 500
_CUT = "[cut]"
_KEY_WORDS = (
    r"(?:api[-_ ]?key|access[-_ ]?key|secret|token|passw(?:or)?d|cookie|authorization|credential|session[-_]?id)"
)
_SECRETS = re.compile(
    r"(?P<url>\w+://)[^/\s@]+@"
    r"|(?:bearer|basic)\s+[\w.~+/=-]{6,}"
    rf"|[\w-]*{_KEY_WORDS}[\w-]*[\"']?\s*[:=]\s*[\"']?[^\s,;\"')}}]+"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|github_pat|glpat|xox[abp]|AIza|AKIA|ASIA)[-_]?[\w-]{12,}"
    r"|\beyJ[\w-]{8,}\.[\w.-]+"
    r"|\b[0-9a-fA-F]{32,}\b"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    re.IGNORECASE,
)
_KEY_NAME = re.compile(rf"{_KEY_WORDS}|key$|auth|header", re.IGNORECASE)


def mapping(value: Any, where: object) -> Mapping[str, Any]:
    """An object; nothing is an empty one. Raises InputError of anything else."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(where, kind(value), "an object")
    return value


def listed(value: Any, where: object) -> list[Any]:
    """A list; nothing is an empty one. Raises InputError of anything else."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(where, kind(value), "a list")
    return value


def text(value: Any, where: object) -> str | None:
    """A text, or None of nothing. Raises InputError of anything else."""
    if value is not None and not isinstance(value, str):
        raise InputError(where, kind(value), "text")
    return value


def name(value: Any, where: object) -> str:
    """An id: printable text of one line, or a whole number as text. Raises InputError."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return str(value)
    if isinstance(value, str) and value.strip() and value.isprintable() and len(value) <= MAX_NAME:
        return value
    raise InputError(where, f"{value!r:.60}", f"one line of printable text, at most {MAX_NAME} characters, or a number")


def label(value: Any, where: object) -> str | None:
    """A short text that isn't an id (a model, a scorer, a stratum), cleaned; None where there is none."""
    found = text(value, where)
    return clean(found) or None if found is not None else None


def count(value: Any, where: object, least: int = 0) -> int | None:
    """A whole number below 2**53, or None of nothing. Raises InputError."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**53:
        raise InputError(where, f"{value!r:.60}", f"a whole number from {least}")
    return value


def amount(value: Any, where: object) -> float | None:
    """A finite number from 0, or None of nothing. Raises InputError."""
    if value is None:
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not (0 <= value < 1e15 and math.isfinite(value))
    ):
        raise InputError(where, f"{value!r:.60}", "a finite number from 0")
    return float(value)


def moment(value: Any, where: object) -> str | None:
    """A time as UTC text with milliseconds; None of nothing, and of a time without a zone. Raises InputError."""
    if value is None or value == "":
        return None
    try:
        made = datetime.fromisoformat(value) if isinstance(value, str) else None
        if made is not None and made.tzinfo is None:
            return None
        if made is not None and 1970 < made.year < 9999:
            return made.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        pass
    raise InputError(where, f"{value!r:.60}", "a time in ISO 8601")


def clean(value: str, most: int = 200) -> str:
    """The first line that says something, without control characters, keys, tokens and e-mail addresses."""
    head = value[:20_000].strip()
    line = next((part.strip() for part in head.splitlines() if part.strip()), "")[:4_000]
    safe = "".join(c if c.isprintable() and not "\ud800" <= c <= "\udfff" else " " for c in line)
    safe = _SECRETS.sub(lambda found: f"{found['url'] or ''}{_CUT}", safe)
    safe = secrets.clean(safe, _CUT).strip()
    return safe if len(safe) <= most else f"{safe[: most - 1]}…"


def settings(values: Mapping[str, Any]) -> str:
    """Arguments as `a=1 b=text`, keys sorted: numbers, flags and short texts; none that may be a secret."""
    shown = []
    for key in sorted(values):
        value = values[key]
        if not isinstance(value, str | int | float) or not key.isprintable() or len(key) > 60:
            continue
        if _KEY_NAME.search(key) and (isinstance(value, str) or not key.endswith("tokens")):
            continue
        said = str(value).lower() if isinstance(value, bool) else str(value)[:2_000]
        if clean(said) == said and len(said) <= 80:
            shown.append(f"{key}={said}")
    return " ".join(shown)
