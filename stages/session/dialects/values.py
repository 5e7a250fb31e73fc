"""From hostile values to what a stamp may hold: short printable text, finite numbers, or a reason."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from stages.contract.stamp import Call

Why = dict[str, str]

_CODE = re.compile(r"[A-Za-z0-9_.:/-]{1,80}")
NO_MODEL = "nothing is asked of a model"
UNNAMED = "the request names no model"
MAX_TEXT = 200
MAX_VALUES = 100


def text(value: Any, hidden: Sequence[str] = (), limit: int = MAX_TEXT) -> str | None:
    """A short printable text that holds none of the `hidden` ones; None for all else."""
    if not isinstance(value, str) or not value.strip() or len(value) > limit or not value.isprintable():
        return None
    return None if any(secret in value for secret in hidden) else value


def code(value: Any, hidden: Sequence[str] = ()) -> str | None:
    """A provider's code: a word or a whole number; None for prose."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**6:
        return str(value)
    found = text(value, hidden)
    return found if found is not None and _CODE.fullmatch(found) else None


def number(value: Any, most: float = 1e15) -> float | None:
    """A finite number from 0 to `most`, of a JSON number; None for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= most and math.isfinite(value) else None


def count(value: Any) -> int | None:
    """A whole number from 0 to 10**12; None for all else."""
    found = number(value, 1e12)
    return int(found) if found is not None and found == int(found) else None


def sent(value: Any) -> str | None:
    """A number of a request as text, the same for 1 and 1.0; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else None
    if not math.isfinite(value):
        return None
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def distinct(values: Iterable[str | None]) -> list[str] | None:
    """The distinct texts in their order; None where there is none."""
    return list(dict.fromkeys(v for v in values if v is not None))[:MAX_VALUES] or None


def kept(why: Why, name: str, value: Any, reason: str) -> Any:
    """The value; where it is none, the reason is noted under the field's name."""
    if value is None:
        why[name] = reason
    return value


def found(why: Why, name: str, value: tuple[Any, str]) -> Any:
    """As `kept`, for a value that comes with its reason."""
    return kept(why, name, *value)


def fields(call: Call, group: str) -> dict[str, Any]:
    """A group of a call as its names and values."""
    part = getattr(call, group)
    return {name: getattr(part, name) for name in type(part).model_fields}
