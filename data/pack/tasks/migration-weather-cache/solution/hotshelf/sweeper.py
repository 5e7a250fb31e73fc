"""Clearing the shelf."""


def sweep(shelf, prefixes: list) -> dict:
    """Drop what starts with the prefixes; gives the number of dropped entries by prefix."""
    return {prefix: len(shelf.evict(prefix)) for prefix in prefixes}


def reset(shelf) -> str:
    """Drop everything and say how much it was."""
    number = len(shelf.evict(""))
    return f"{number} dropped" if number else "nothing to drop"
