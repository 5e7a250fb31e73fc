"""Asking the relay for an answer until there is one or time is up."""
from relaypost import backoff


def may_poll(started: float, now: float, limit: float) -> bool:
    """Whether it is worth asking at `now`; all times in seconds."""
    return not backoff.Deadline(round(started * 1000), round(limit * 1000)).passed(round(now * 1000))


def next_poll(started: float, now: float, limit: float, attempt: int):
    """Seconds to wait for the next attempt, no longer than to the deadline; None when time is up."""
    deadline = backoff.Deadline(round(started * 1000), round(limit * 1000))
    now_ms = round(now * 1000)
    if deadline.passed(now_ms):
        return None
    return min(backoff.backoff_ms(attempt), deadline.left_ms(now_ms)) / 1000
