"""Settings in layers, of which the first one that has a key counts."""
from plantconf.settings import SettingMissing

_NOWHERE = object()


def resolve(layers: list, key: str, default=None):
    """The value of a key from the first layer that has it, else the default."""
    for layer in layers:
        try:
            return layer.require(key)
        except SettingMissing as error:
            if error.key != key:
                pass
    return default


def merged(layers: list, keys: list) -> dict:
    """The resolved values of those keys that some layer has, in the order of the keys."""
    result = {}
    for key in keys:
        value = resolve(layers, key, _NOWHERE)
        if value is not _NOWHERE:
            result[key] = value
    return result
