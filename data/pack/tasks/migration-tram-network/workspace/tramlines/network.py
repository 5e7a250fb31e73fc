"""Stops, tracks between them, and the time they take."""
import heapq


class Network:
    """A network of stops; a track may be usable in one direction only."""

    def __init__(self):
        self._tracks = {}

    def connect(self, a: str, b: str, *, minutes: int, both_ways: bool = False) -> None:
        """Add a track from `a` to `b`, and one back if it is usable both ways."""
        self._tracks.setdefault(a, {})[b] = minutes
        self._tracks.setdefault(b, {})
        if both_ways:
            self._tracks[b][a] = minutes

    def stops(self) -> list:
        """All stops, sorted."""
        return sorted(self._tracks)

    def travel_minutes(self, destination: str, origin: str):
        """The least time to a destination from an origin, or None if there is no way."""
        if origin not in self._tracks or destination not in self._tracks:
            return None
        queue, done = [(0, origin)], set()
        while queue:
            spent, stop = heapq.heappop(queue)
            if stop == destination:
                return spent
            if stop in done:
                continue
            done.add(stop)
            for after, minutes in self._tracks[stop].items():
                heapq.heappush(queue, (spent + minutes, after))
        return None
