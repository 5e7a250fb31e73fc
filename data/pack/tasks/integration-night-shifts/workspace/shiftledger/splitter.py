"""Cut shifts into days."""
from datetime import date
from typing import NamedTuple


class Segment(NamedTuple):
    """Working time within one day; the end of the day is minute 1440."""

    person: str
    day: date
    start: int
    end: int


def split(shift) -> list:
    """The segments of a shift."""
    return [Segment(shift.person, shift.day, shift.start, shift.end)]
