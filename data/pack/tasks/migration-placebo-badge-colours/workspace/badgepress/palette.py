"""Colours and sizes of name badges."""

KNOWN_ROLES = ("guest", "helper", "speaker")
_SHADES = {"guest": "grey", "helper": "green", "speaker": "blue"}
_SLOTS = {"small": 12, "large": 8}


def shade(role: str) -> str:
    """The colour of a role's badges."""
    return _SHADES.get(role, "white")


def slots(size: str) -> int:
    """How many badges of a size fit on one sheet."""
    return _SLOTS[size]
