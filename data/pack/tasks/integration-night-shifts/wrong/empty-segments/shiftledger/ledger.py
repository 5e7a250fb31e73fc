"""Collect working time."""
from collections import defaultdict


class Ledger:
    """The times worked, by person and day."""

    def __init__(self) -> None:
        self._spans = defaultdict(list)

    def add(self, segment) -> None:
        """Count a segment in."""
        self._spans[segment.person, segment.day].append((segment.start, segment.end))

    def keys(self) -> list:
        """The (person, day) pairs with any time, in order."""
        return sorted(self._spans)

    def spans(self, person: str, day) -> list:
        """Start and end of the times worked by a person on a day."""
        joined = []
        for start, end in sorted(self._spans.get((person, day), [])):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return joined
