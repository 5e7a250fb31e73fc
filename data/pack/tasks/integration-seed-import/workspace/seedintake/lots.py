"""Lots of seed."""
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Lot:
    number: str
    species: str
    received: date
    grams: int


def to_lot(cells: list) -> Lot:
    """Make a lot of the cells of a line."""
    if len(cells) != 4:
        raise ValueError(f"expected 4 cells, got {len(cells)}")
    number, species, received, grams = cells
    if not number:
        raise ValueError("lot number missing")
    if not grams.isdigit() or int(grams) == 0:
        raise ValueError(f"bad weight {grams!r}")
    try:
        day = date.fromisoformat(received)
    except ValueError:
        raise ValueError(f"bad date {received!r}") from None
    return Lot(number, species, day, int(grams))
