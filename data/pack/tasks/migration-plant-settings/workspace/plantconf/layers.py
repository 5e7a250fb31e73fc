"""Settings in layers, of which the first one that has a key counts."""


def resolve(layers: list, key: str, default=None):
    """The value of a key from the first layer that has it, else the default."""
    for layer in layers:
        value = layer.lookup(key)
        if value is not None:
            return value
    return default


def merged(layers: list, keys: list) -> dict:
    """The resolved values of those keys that some layer has, in the order of the keys."""
    result = {}
    for key in keys:
        value = resolve(layers, key)
        if value is not None:
            result[key] = value
    return result
