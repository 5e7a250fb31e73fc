"""Rooms, bookings, and the handlers for them."""
from dataclasses import dataclass
from datetime import date, time


@dataclass(frozen=True)
class Booking:
    day: date
    start: time
    end: time
    guests: frozenset = frozenset()


class NoSuchRoom(Exception):
    """There is no such room."""


class Rooms:
    """The bookings of each room."""

    def __init__(self, numbers) -> None:
        self._bookings = {number: [] for number in numbers}

    def book(self, room: int, booking: Booking) -> None:
        """Note a booking."""
        self._of(room).append(booking)

    def _of(self, room: int) -> list:
        if room not in self._bookings:
            raise NoSuchRoom(room)
        return self._bookings[room]

    def show_all(self, params: dict):
        """The numbers of all rooms."""
        return sorted(self._bookings)

    def show_day(self, params: dict):
        """Bookings of a room on a day, the earliest first."""
        found = [booking for booking in self._of(params["room"]) if booking.day == params["day"]]
        return {"room": params["room"], "bookings": sorted(found, key=lambda booking: booking.start)}

    def count_days(self, params: dict):
        """How many bookings a room has on each day."""
        days = [booking.day for booking in self._of(params["room"])]
        return {day: days.count(day) for day in days}
