"""Upper limits of readings."""

STANDARD = 100


def limit(settings, key: str, fallback: float = STANDARD) -> float:
    """The limit of a reading, or the fallback if none is set."""
    value = settings.lookup("limit." + key)
    if value is None:
        return fallback
    return value


def within(settings, readings: dict) -> bool:
    """Whether all readings are no higher than their limits."""
    return all(value <= limit(settings, key) for key, value in readings.items())
