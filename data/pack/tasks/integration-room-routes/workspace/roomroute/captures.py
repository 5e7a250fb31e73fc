"""Read pieces of paths."""
import re
from datetime import date


def to_int(text: str) -> int:
    """A whole number, written with digits only."""
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError(f"not a number: {text!r}")
    return int(text)


def to_date(text: str) -> date:
    """A day, written as yyyy-mm-dd."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError(f"not a date: {text!r}")
    return date.fromisoformat(text)
