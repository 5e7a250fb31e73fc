"""Keep the energy used per meter."""
from fractions import Fraction

from meterfold.normalise import Sample


class UsageStore:
    """Adds up what each meter has used."""

    def __init__(self) -> None:
        self._used = {}

    def add(self, sample: Sample) -> None:
        """Count a sample in."""
        before = self._used.get(sample.meter, Fraction(0))
        self._used[sample.meter] = before + sample.whole_kwh

    def meters(self) -> list:
        """The meters seen, in order of their names."""
        return sorted(self._used)

    def used(self, meter: str) -> Fraction:
        """Kilowatt hours used by a meter so far; 0 if it was never seen."""
        return self._used.get(meter, Fraction(0))
