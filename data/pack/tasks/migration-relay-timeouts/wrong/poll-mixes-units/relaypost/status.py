"""Lines for the status page."""
from relaypost import backoff


def waiting(attempt: int) -> str:
    """For instance: attempt 3 in 2.00 s"""
    return f"attempt {attempt} in {backoff.backoff_ms(attempt) / 1000:.2f} s"


def left(started: float, limit: float, now: float) -> str:
    """What is left of the time, for instance: 1.5 s left. The times are in seconds."""
    deadline = backoff.Deadline(round(started * 1000), round(limit * 1000))
    if deadline.passed(round(now * 1000)):
        return "time is up"
    return f"{deadline.left_ms(round(now * 1000)) / 1000:.1f} s left"
