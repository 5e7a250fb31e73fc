"""Upper limits of readings."""
from plantconf.settings import SettingMissing

STANDARD = 100


def limit(settings, key: str, fallback: float = STANDARD) -> float:
    """The limit of a reading, or the fallback if none is set."""
    name = "limit." + key
    try:
        value = settings.require(name)
    except SettingMissing as error:
        if error.key != name:
            raise
        return fallback
    return float("inf") if value is None else value


def within(settings, readings: dict) -> bool:
    """Whether all readings are no higher than their limits."""
    return all(value <= limit(settings, key) for key, value in readings.items())
