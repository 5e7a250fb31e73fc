"""Count laps."""
from dataclasses import dataclass


@dataclass
class Tally:
    """What one rider has done so far."""

    bib: int
    laps: int = 0
    seconds: int = 0

    def cross(self, seconds: int) -> None:
        """The rider crosses the line."""
        self.laps += 1
        self.seconds = max(self.seconds, seconds)


def tally_up(crossings) -> list:
    """A tally for each rider, in order of the bibs."""
    riders = {}
    for crossing in crossings:
        rider = riders.setdefault(crossing.bib, Tally(crossing.bib))
        rider.cross(crossing.seconds)
    return [riders[bib] for bib in sorted(riders)]
