"""Price the energy used."""
from fractions import Fraction
from math import floor

from meterfold.normalise import normalise
from meterfold.reader import read_rows
from meterfold.store import UsageStore


def charge(kwh: Fraction, cents_per_kwh: int) -> int:
    """What some kilowatt hours cost, in whole cents (a half goes up)."""
    return floor(kwh * cents_per_kwh + Fraction(1, 2))


def make_bills(lines: list[str], cents_per_kwh: int) -> dict[str, int]:
    """Cents to pay per meter, for all lines of an export."""
    store = UsageStore()
    for row in read_rows(lines):
        store.add(normalise(row))
    return {meter: charge(store.used(meter), cents_per_kwh) for meter in store.meters()}
