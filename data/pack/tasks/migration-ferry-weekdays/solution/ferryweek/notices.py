"""Texts for the notice board."""
import datetime

from ferryweek import days

NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def heading(day: datetime.date) -> str:
    """For instance: Friday, 5."""
    return f"{NAMES[days.iso_weekday(day) % 7]}, {day.day}."


def workdays_left(day: datetime.date) -> int:
    """How many days from Monday to Friday are still to come in the day's week, the day itself not counted."""
    return max(0, 5 - days.iso_weekday(day) % 7)
