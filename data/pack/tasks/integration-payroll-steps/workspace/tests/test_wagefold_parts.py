import pytest

from wagefold import steps
from wagefold.sheet import read_line
from wagefold.slips import euros


def test_sheet_line():
    assert read_line("ann 600 2000") == {"name": "ann", "minutes": 600, "rate": 2000, "kept": {}}
    with pytest.raises(ValueError):
        read_line("ann -5 2000")


def test_overtime_step():
    slip = {"minutes": 2460, "rate": 2000, "gross": 82000, "taxable": 82000}
    steps.overtime(slip)
    assert slip["gross"] == slip["taxable"] == 83000


def test_pension_step():
    slip = {"gross": 10000, "taxable": 10000, "kept": {}}
    steps.pension(slip)
    assert slip == {"gross": 10000, "taxable": 9500, "kept": {"pension": 500}}


def test_euros():
    assert euros(12305) == "123.05"
