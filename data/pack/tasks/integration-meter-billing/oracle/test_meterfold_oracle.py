# wb-canary-c044e1b0
from fractions import Fraction

import pytest

from meterfold.bill import charge, make_bills
from meterfold.normalise import Sample
from meterfold.store import UsageStore


def test_whole_kilowatt_hours():
    assert make_bills(["a;2024-01-01;3;kWh", "b;2024-01-01;2000;Wh"], 30) == {"a": 90, "b": 60}


def test_small_samples_add_up():
    lines = [f"a;2024-01-{day:02d};400;Wh" for day in range(1, 11)]
    assert make_bills(lines, 30) == {"a": 120}


@pytest.mark.parametrize("amount, unit, cents", [
    ("1500", "Wh", 60), ("0.25", "kWh", 10), ("12", "Wh", 0), ("13", "Wh", 1), ("0.0015", "MWh", 60),
])
def test_fractions_of_a_kilowatt_hour(amount, unit, cents):
    assert make_bills([f"a;2024-01-01;{amount};{unit}"], 40) == {"a": cents}


def test_store_gives_exact_kilowatt_hours():
    store = UsageStore()
    store.add(Sample("a", "2024-01-01", 1250))
    store.add(Sample("a", "2024-01-02", 1))
    assert store.used("a") == Fraction(1251, 1000)
    assert store.used("b") == 0


def test_charge_still_takes_kilowatt_hours():
    assert charge(Fraction(2), 30) == 60
    assert charge(Fraction(2500), 30) == 75000


def test_rounding_happens_once_per_bill():
    lines = ["a;2024-01-01;10;Wh", "a;2024-01-02;10;Wh", "a;2024-01-03;10;Wh"]
    assert make_bills(lines, 50) == {"a": 2}
