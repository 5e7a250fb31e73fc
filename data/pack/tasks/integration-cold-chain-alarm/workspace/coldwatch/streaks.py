"""Bad samples in a row."""


class StreakCounter:
    """Counts for each probe on its own."""

    def __init__(self) -> None:
        self._length = {}

    def feed(self, probe: str, bad: bool) -> int:
        """Take the next sample of a probe; gives the length of its streak (0 if good)."""
        self._length[probe] = self._length.get(probe, 0) + 1 if bad else 0
        return self._length[probe]

    def reset(self) -> None:
        """Forget all streaks."""
        self._length.clear()
