import pytest

from fractions import Fraction

from meterfold.bill import charge
from meterfold.normalise import Sample, normalise
from meterfold.reader import parse_line, read_rows
from meterfold.store import UsageStore


def test_reader_splits_lines():
    assert parse_line("m1; 2024-03-01; 1.5; kWh")["amount"] == "1.5"
    assert len(list(read_rows(["# export", "", "m1;2024-03-01;7;Wh"]))) == 1


def test_normalise_knows_the_units():
    row = {"meter": "m1", "day": "2024-03-01", "amount": "1.5", "unit": "kWh"}
    assert normalise(row).watt_hours == 1500
    with pytest.raises(ValueError):
        normalise(dict(row, unit="J"))


def test_store_lists_meters_in_order():
    store = UsageStore()
    store.add(Sample("m2", "2024-03-01", 10))
    store.add(Sample("m1", "2024-03-01", 10))
    assert store.meters() == ["m1", "m2"]
    assert store.used("m9") == 0


def test_charge_rounds_half_up():
    assert charge(Fraction(3), 30) == 90
    assert charge(Fraction(1, 2), 25) == 13
