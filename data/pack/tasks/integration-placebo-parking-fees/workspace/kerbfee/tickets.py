"""Tickets of the car park."""
from typing import NamedTuple


class Ticket(NamedTuple):
    """One stay, with minutes after midnight."""

    plate: str
    arrived: int
    left: int

    @property
    def minutes(self) -> int:
        """How long the car stayed."""
        return self.left - self.arrived

    @property
    def hours(self) -> int:
        """Full hours of the stay."""
        return self.minutes // 60


def parse_ticket(line: str) -> Ticket:
    """Read ``plate in out``."""
    plate, *times = line.split()
    arrived, left = (int(time[:2]) * 60 + int(time[3:]) for time in times)
    if left < arrived:
        raise ValueError(f"{plate} left before it came")
    return Ticket(plate, arrived, left)
