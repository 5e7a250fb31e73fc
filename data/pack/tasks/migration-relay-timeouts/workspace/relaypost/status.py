"""Lines for the status page."""
from relaypost import backoff


def waiting(attempt: int) -> str:
    """For instance: attempt 3 in 2.00 s"""
    return f"attempt {attempt} in {backoff.wait_s(attempt):.2f} s"


def left(started: float, limit: float, now: float) -> str:
    """What is left of the time, for instance: 1.5 s left. The times are in seconds."""
    deadline = backoff.Deadline(started, limit)
    if deadline.is_over(now):
        return "time is up"
    return f"{deadline.left(now):.1f} s left"
