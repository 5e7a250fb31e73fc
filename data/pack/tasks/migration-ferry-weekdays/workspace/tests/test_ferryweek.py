from datetime import date

from ferryweek import crew, days, notices, sailings

SUNDAY = date(2024, 3, 3)
WEDNESDAY = date(2024, 3, 6)


def test_iso_weekday():
    assert days.iso_weekday(SUNDAY) == 7
    assert days.iso_weekday(WEDNESDAY) == 3


def test_span():
    assert days.span(SUNDAY, 4)[-1] == WEDNESDAY


def test_sailings():
    assert sailings.sailings(WEDNESDAY) == 4
    assert sailings.sailings(SUNDAY) == 2


def test_week_start():
    assert crew.week_start(WEDNESDAY) == SUNDAY


def test_next_change():
    assert crew.next_change(WEDNESDAY) == date(2024, 3, 10)


def test_weekend():
    assert crew.is_weekend(date(2024, 3, 9)) is True
    assert crew.is_weekend(WEDNESDAY) is False


def test_heading():
    assert notices.heading(WEDNESDAY) == "Wednesday, 6."


def test_workdays_left():
    assert notices.workdays_left(WEDNESDAY) == 2
