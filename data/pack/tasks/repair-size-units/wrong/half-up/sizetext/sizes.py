"""Byte counts as text and back."""

import re

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
STEP = 1024

_SIZE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([KMGT]iB|B)?\s*", re.IGNORECASE)


def format_size(count: int, digits: int = 1) -> str:
    """``count`` bytes in a unit that suits its size."""
    value = count
    unit = 0
    while abs(value) >= STEP - 0.5 and unit < len(UNITS) - 1:
        value = value / STEP
        unit += 1
    if unit == 0:
        return f"{value} B"
    return f"{value:.{digits}f} {UNITS[unit]}"


def parse_size(text: str) -> int:
    """The count of bytes in a text such as ``1.5 KiB``."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"not a size: {text!r}")
    figure, name = match.groups()
    names = [unit.lower() for unit in UNITS]
    factor = STEP ** names.index((name or "B").lower())
    return round(float(figure) * factor)
