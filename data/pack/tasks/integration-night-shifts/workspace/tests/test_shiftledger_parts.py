import pytest

from datetime import date

from shiftledger.clock import Shift, parse_shift
from shiftledger.ledger import Ledger
from shiftledger.night import night_minutes
from shiftledger.splitter import Segment, split

DAY = date(2024, 3, 1)


def test_record_is_read():
    assert parse_shift("ann 2024-03-01 22:00 06:00") == Shift("ann", DAY, 1320, 360)
    with pytest.raises(ValueError):
        parse_shift("ann 2024-03-01 22:00 24:00")


def test_day_shift_is_one_segment():
    assert split(Shift("ann", DAY, 480, 960)) == [Segment("ann", DAY, 480, 960)]


def test_ledger_keeps_order():
    ledger = Ledger()
    ledger.add(Segment("ann", DAY, 840, 960))
    ledger.add(Segment("ann", DAY, 480, 720))
    assert ledger.spans("ann", DAY) == [(480, 720), (840, 960)]
    assert ledger.keys() == [("ann", DAY)]


def test_night_minutes():
    assert night_minutes(300, 420) == 60
    assert night_minutes(1260, 1440) == 120
    assert night_minutes(480, 960) == 0
