"""Settings for people to read."""
from plantconf.settings import SettingMissing


def line(settings, key: str) -> str:
    """One setting: key = value"""
    try:
        value = settings.require(key)
    except SettingMissing as error:
        if error.key != key:
            raise
        return f"{key} (not set)"
    return f"{key} = {'off' if value is None else value}"


def missing(settings, keys: list) -> list:
    """Those of the keys that aren't set."""
    result = []
    for key in keys:
        try:
            settings.require(key)
        except SettingMissing as error:
            if error.key != key:
                raise
            result.append(key)
    return result
