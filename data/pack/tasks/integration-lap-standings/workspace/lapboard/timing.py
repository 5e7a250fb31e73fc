"""Crossings of the finish line."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Crossing:
    bib: int
    seconds: int


def parse_crossing(line: str) -> Crossing:
    """Read ``bib mm:ss``."""
    bib, clock = line.split()
    minutes, seconds = clock.split(":")
    if not 0 <= int(seconds) < 60:
        raise ValueError(f"bad time {clock!r}")
    return Crossing(int(bib), int(minutes) * 60 + int(seconds))
