"""Asking the relay for an answer until there is one or time is up."""
from relaypost import backoff


def may_poll(started: float, now: float, limit: float) -> bool:
    """Whether it is worth asking at `now`; all times in seconds."""
    return not backoff.Deadline(started, limit).is_over(now)


def next_poll(started: float, now: float, limit: float, attempt: int):
    """Seconds to wait for the next attempt, no longer than to the deadline; None when time is up."""
    deadline = backoff.Deadline(started, limit)
    if deadline.is_over(now):
        return None
    return min(backoff.wait_s(attempt), deadline.left(now))
