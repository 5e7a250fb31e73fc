# wb-canary-58220d47
from datetime import date, timedelta

from ferryweek import crew, notices, sailings

SUNDAY = date(2023, 7, 9)
WEEK = [SUNDAY + timedelta(days=number) for number in range(7)]


def test_summer_table():
    assert [sailings.sailings(day) for day in WEEK] == [4, 6, 6, 6, 7, 9, 8]


def test_winter_table():
    assert [sailings.sailings(date(2023, 12, 3) + timedelta(days=n)) for n in range(7)] == [2, 4, 4, 4, 4, 5, 3]
    assert sailings.WINTER == (2, 4, 4, 4, 4, 5, 3)


def test_total():
    assert sailings.total(WEEK[6], 3) == 8 + 4 + 6
    assert sailings.total(WEEK[3], 14) == 92


def test_week_start():
    assert [crew.week_start(day) for day in WEEK] == [SUNDAY] * 7


def test_next_change():
    assert [crew.next_change(day) for day in WEEK] == [SUNDAY + timedelta(days=7)] * 7


def test_weekend():
    assert [crew.is_weekend(day) for day in WEEK] == [True, False, False, False, False, False, True]


def test_same_week():
    assert [crew.same_week(SUNDAY, SUNDAY + timedelta(days=n)) for n in (-1, 0, 6, 7)] == [False, True, True, False]


def test_headings():
    assert notices.heading(SUNDAY) == "Sunday, 9."
    assert notices.heading(WEEK[1]) == "Monday, 10."
    assert notices.heading(WEEK[6]) == "Saturday, 15."


def test_workdays_left():
    assert [notices.workdays_left(day) for day in WEEK] == [5, 4, 3, 2, 1, 0, 0]
