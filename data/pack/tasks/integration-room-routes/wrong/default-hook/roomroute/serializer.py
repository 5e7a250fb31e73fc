"""Write values as JSON."""
import json
from dataclasses import fields, is_dataclass
from datetime import date, time


def to_text(value) -> str:
    """JSON text, with the keys in order."""
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value):
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.strftime("%H:%M")
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"can't write {value!r}")
