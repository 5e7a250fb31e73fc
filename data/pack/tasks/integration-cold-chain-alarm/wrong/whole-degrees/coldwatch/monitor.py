"""Raise alarms."""
from coldwatch.limits import Limits
from coldwatch.samples import parse_sample
from coldwatch.streaks import StreakCounter


class Monitor:
    """Checks deliveries, one after the other."""

    def __init__(self, limits: Limits, needed: int) -> None:
        self._limits = limits
        self._needed = needed
        self._streaks = StreakCounter()

    def run(self, lines: list[str]) -> list[str]:
        """The probes that raise an alarm in one delivery, in the order of the alarms."""
        self._streaks.reset()
        alarms = []
        for line in lines:
            sample = parse_sample(line)
            bad = not self._limits.contains(sample.whole)
            if self._streaks.feed(sample.probe, bad) == self._needed:
                alarms.append(sample.probe)
        return alarms
