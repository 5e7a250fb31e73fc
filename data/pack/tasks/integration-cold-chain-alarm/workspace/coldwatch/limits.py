"""Allowed temperatures."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """A range in degrees Celsius, both ends included."""

    low: float
    high: float

    def contains(self, celsius: float) -> bool:
        """Is the temperature allowed?"""
        return self.low <= celsius <= self.high
