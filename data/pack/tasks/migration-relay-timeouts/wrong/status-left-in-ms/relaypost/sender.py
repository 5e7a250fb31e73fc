"""When a message is sent again."""
from relaypost.backoff import CAP_MS
from relaypost import backoff


def plan(attempts: int) -> list:
    """The moments of all attempts, in seconds after the first wait has begun."""
    moments = []
    moment = 0
    for attempt in range(attempts):
        moment += backoff.backoff_ms(attempt)
        moments.append(moment / 1000)
    return moments


def attempts_within(seconds: float) -> int:
    """How many attempts are made in that many seconds."""
    attempt, waited = 0, backoff.backoff_ms(0)
    while waited <= seconds * 1000:
        attempt += 1
        waited += backoff.backoff_ms(attempt)
    return attempt


def is_capped(attempt: int) -> bool:
    """Whether the wait before an attempt has reached the cap."""
    return backoff.backoff_ms(attempt) >= CAP_MS
