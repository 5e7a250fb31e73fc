"""A set of integers, kept as a sorted list of disjoint half-open spans."""

from collections.abc import Iterable

Span = tuple[int, int]


def coalesce(spans: Iterable[Span]) -> list[Span]:
    """The fewest spans, in order, which cover the same positions."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


class SpanSet:
    """Positions that are covered, in spans ``[start, end)``."""

    def __init__(self, spans: Iterable[Span] = ()):
        self._spans: list[Span] = []
        for start, end in spans:
            self.add(start, end)

    def __len__(self) -> int:
        return len(self._spans)

    def __contains__(self, position: int) -> bool:
        return any(start <= position < end for start, end in self._spans)

    def spans(self) -> list[Span]:
        return list(self._spans)

    def total(self) -> int:
        """How many positions are covered."""
        return sum(end - start for start, end in self._spans)

    def add(self, start: int, end: int) -> None:
        """Cover ``[start, end)``. An empty span is ignored."""
        if end < start:
            raise ValueError(f"span ends before it starts: {start}-{end}")
        if start == end:
            return
        self._spans = coalesce(self._spans + [(start, end)])

    def remove(self, start: int, end: int) -> None:
        """Uncover ``[start, end)``; spans that are cut keep their outer parts."""
        kept: list[Span] = []
        for low, high in self._spans:
            if low < start:
                kept.append((low, min(high, start)))
            if high > end:
                kept.append((max(low, end), high))
        self._spans = coalesce(kept) if start < end else self._spans

    def gaps(self) -> list[Span]:
        """The uncovered stretches between the first and the last span."""
        return [
            (before[1], after[0])
            for before, after in zip(self._spans, self._spans[1:])
        ]
