# wb-canary-4dfaf866
from datetime import date

import pytest

from shiftledger.clock import Shift
from shiftledger.ledger import Ledger
from shiftledger.splitter import Segment, split
from shiftledger.timesheet import timesheet

DAY = date(2024, 3, 1)
NEXT = date(2024, 3, 2)


def pieces(start, end, day=DAY):
    return [(s.day, s.start, s.end) for s in split(Shift("ann", day, start, end))]


@pytest.mark.parametrize("start, end, expected", [
    (480, 960, [(DAY, 480, 960)]),
    (1320, 360, [(DAY, 1320, 1440), (NEXT, 0, 360)]),
    (1320, 0, [(DAY, 1320, 1440)]),
    (0, 0, [(DAY, 0, 1440)]),
    (480, 480, [(DAY, 480, 1440), (NEXT, 0, 480)]),
    (1439, 1, [(DAY, 1439, 1440), (NEXT, 0, 1)]),
    (0, 1439, [(DAY, 0, 1439)]),
])
def test_segments_of_a_shift(start, end, expected):
    assert pieces(start, end) == expected


@pytest.mark.parametrize("day, following", [
    (date(2024, 2, 28), date(2024, 2, 29)),
    (date(2023, 2, 28), date(2023, 3, 1)),
    (date(2024, 12, 31), date(2025, 1, 1)),
])
def test_next_day_by_the_calendar(day, following):
    assert pieces(1380, 60, day) == [(day, 1380, 1440), (following, 0, 60)]


def test_segments_are_segments():
    first, second = split(Shift("bob", DAY, 1320, 360))
    assert isinstance(first, Segment) and isinstance(second, Segment)
    assert first.person == second.person == "bob"


@pytest.mark.parametrize("added, expected", [
    ([(100, 200), (150, 250)], [(100, 250)]),
    ([(100, 200), (200, 250)], [(100, 250)]),
    ([(100, 300), (150, 250)], [(100, 300)]),
    ([(300, 400), (100, 200)], [(100, 200), (300, 400)]),
    ([(100, 200), (300, 400), (150, 350)], [(100, 400)]),
    ([(100, 200), (100, 200)], [(100, 200)]),
    ([(100, 500), (150, 200), (450, 600)], [(100, 600)]),
])
def test_spans_are_joined(added, expected):
    ledger = Ledger()
    for start, end in added:
        ledger.add(Segment("ann", DAY, start, end))
    assert ledger.spans("ann", DAY) == expected
    assert ledger.spans("ann", DAY) == expected


def test_spans_of_different_people_and_days():
    ledger = Ledger()
    ledger.add(Segment("ann", DAY, 100, 200))
    ledger.add(Segment("bob", DAY, 150, 250))
    ledger.add(Segment("ann", NEXT, 150, 250))
    assert ledger.spans("ann", DAY) == [(100, 200)]
    assert ledger.spans("bob", NEXT) == []
    assert ledger.keys() == [("ann", DAY), ("ann", NEXT), ("bob", DAY)]


def test_sheet_of_overlapping_night_shifts():
    lines = [
        "bob 2024-12-31 22:00 06:00",
        "bob 2024-12-31 23:00 07:00",
        "ann 2025-01-01 00:00 00:00",
    ]
    assert timesheet(lines) == [
        "ann 2025-01-01: 1440 min, 480 at night",
        "bob 2024-12-31: 120 min, 120 at night",
        "bob 2025-01-01: 420 min, 360 at night",
    ]


def test_night_meets_the_shift_of_the_next_day():
    lines = ["ann 2024-03-01 22:00 06:00", "ann 2024-03-02 05:00 14:00"]
    assert timesheet(lines) == [
        "ann 2024-03-01: 120 min, 120 at night",
        "ann 2024-03-02: 840 min, 360 at night",
    ]
