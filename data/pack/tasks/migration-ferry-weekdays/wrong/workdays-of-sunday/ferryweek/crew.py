"""Crews change with the office's week, which begins on Sunday."""
import datetime

from ferryweek import days


def week_start(day: datetime.date) -> datetime.date:
    """The Sunday with which the day's week begins."""
    return day - datetime.timedelta(days=days.iso_weekday(day) % 7)


def is_weekend(day: datetime.date) -> bool:
    """Saturday and Sunday."""
    return days.iso_weekday(day) in (6, 7)


def next_change(day: datetime.date) -> datetime.date:
    """The first Sunday after the day."""
    return day + datetime.timedelta(days=7 - days.iso_weekday(day) % 7)


def same_week(one: datetime.date, other: datetime.date) -> bool:
    """Whether two days lie in the same week."""
    return week_start(one) == week_start(other)
