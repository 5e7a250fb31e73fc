"""Cut shifts into days."""
from datetime import date, timedelta
from typing import NamedTuple


class Segment(NamedTuple):
    """Working time within one day; the end of the day is minute 1440."""

    person: str
    day: date
    start: int
    end: int


def split(shift) -> list:
    """The segments of a shift."""
    if shift.end >= shift.start:
        return [Segment(shift.person, shift.day, shift.start, shift.end)]
    following = shift.day + timedelta(days=1)
    return [
        Segment(shift.person, shift.day, shift.start, 1440),
        Segment(shift.person, following, 0, shift.end),
    ]
