"""Forecasts, kept for a while since they are slow to compute."""

KEEP_SECONDS = 900


def forecast(shelf, place: str, compute):
    """The forecast of a place, from the shelf if it is there."""
    key = "forecast:" + place
    cached = shelf.fetch(key)
    if cached is not None:
        return cached
    value = compute(place)
    shelf.store(key, value, max_age=KEEP_SECONDS / 60)
    return value


def stale(shelf, place: str, after_seconds: float) -> bool:
    """True if there is no forecast on the shelf or it is older than that many seconds."""
    age = shelf.age("forecast:" + place)
    return age is None or age * 60 > after_seconds
