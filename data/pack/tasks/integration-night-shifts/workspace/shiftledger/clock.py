"""Records of the gates."""
from datetime import date
from typing import NamedTuple


class Shift(NamedTuple):
    """A shift as it was recorded, with minutes after midnight."""

    person: str
    day: date
    start: int
    end: int


def minutes(clock: str) -> int:
    """Minutes after midnight of ``hh:mm``."""
    hour, minute = (int(part) for part in clock.split(":"))
    if not (0 <= hour < 24 and 0 <= minute < 60):
        raise ValueError(f"no such time: {clock}")
    return hour * 60 + minute


def parse_shift(line: str) -> Shift:
    """Read ``name day start end``."""
    person, day, start, end = line.split()
    return Shift(person, date.fromisoformat(day), minutes(start), minutes(end))
