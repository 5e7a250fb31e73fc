"""Settings for people to read."""


def line(settings, key: str) -> str:
    """One setting: key = value"""
    value = settings.lookup(key)
    if value is None:
        return f"{key} (not set)"
    return f"{key} = {value}"


def missing(settings, keys: list) -> list:
    """Those of the keys that aren't set."""
    return [key for key in keys if settings.lookup(key) is None]
