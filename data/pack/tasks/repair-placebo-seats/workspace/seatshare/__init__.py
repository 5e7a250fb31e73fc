"""Distribution of seats."""

from seatshare.highest import share_seats
from seatshare.summary import summarize

__all__ = ["share_seats", "summarize"]
