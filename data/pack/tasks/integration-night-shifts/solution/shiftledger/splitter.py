"""Cut shifts into days."""
from datetime import date, timedelta
from typing import NamedTuple


DAY_END = 24 * 60


class Segment(NamedTuple):
    """Working time within one day; the end of the day is minute 1440."""

    person: str
    day: date
    start: int
    end: int


def split(shift) -> list:
    """The segments of a shift."""
    if shift.end > shift.start:
        return [Segment(shift.person, shift.day, shift.start, shift.end)]
    segments = [Segment(shift.person, shift.day, shift.start, DAY_END)]
    if shift.end > 0:
        segments.append(Segment(shift.person, shift.day + timedelta(days=1), 0, shift.end))
    return segments
