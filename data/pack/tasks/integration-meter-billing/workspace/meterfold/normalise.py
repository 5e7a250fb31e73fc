"""Bring rows of any unit to one kind of sample."""
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

_WATT_HOURS = {"Wh": 1, "kWh": 1000, "MWh": 1_000_000}


@dataclass(frozen=True)
class Sample:
    """Energy used by one meter on one day."""

    meter: str
    day: str
    watt_hours: int

    @property
    def kwh(self) -> Fraction:
        """The same energy in kilowatt hours."""
        return Fraction(self.watt_hours, 1000)

    @property
    def whole_kwh(self) -> int:
        """Kilowatt hours as the display of the meter shows them: no decimals."""
        return self.watt_hours // 1000


def normalise(row: dict) -> Sample:
    """Turn a row of the reader into a sample."""
    if row["unit"] not in _WATT_HOURS:
        raise ValueError(f"unknown unit {row['unit']!r}")
    watt_hours = Decimal(row["amount"]) * _WATT_HOURS[row["unit"]]
    return Sample(row["meter"], row["day"], int(watt_hours))
