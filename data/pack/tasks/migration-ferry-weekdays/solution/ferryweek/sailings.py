"""How often the ferry sails."""
import datetime

from ferryweek import days

# from Sunday to Saturday
SUMMER = (4, 6, 6, 6, 7, 9, 8)
WINTER = (2, 4, 4, 4, 4, 5, 3)


def sailings(day: datetime.date) -> int:
    """The number of sailings on a day; summer is from May to September."""
    table = SUMMER if 5 <= day.month <= 9 else WINTER
    return table[days.iso_weekday(day) % 7]


def total(first: datetime.date, count: int) -> int:
    """The number of sailings on so many days in a row."""
    return sum(sailings(day) for day in days.span(first, count))
