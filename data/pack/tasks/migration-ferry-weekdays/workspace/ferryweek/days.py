"""Days of the week."""
import datetime


def iso_weekday(day: datetime.date) -> int:
    """1 for Monday up to 7 for Sunday."""
    return day.isoweekday()


def span(first: datetime.date, count: int) -> list:
    """So many days in a row."""
    return [first + datetime.timedelta(days=number) for number in range(count)]
