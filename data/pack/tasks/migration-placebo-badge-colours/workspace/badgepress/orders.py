"""Orders for badges by role."""
from badgepress import palette, sheets


def colours(order: dict) -> list:
    """The colours that an order needs, sorted and each once."""
    return sorted({palette.colour_of(role) for role in order})


def unknown(order: dict) -> list:
    """The roles of an order that aren't known, sorted."""
    return sorted(role for role in order if role not in palette.ROLES)


def sheet_total(order: dict, size: str) -> int:
    """The sheets for an order; every colour starts a new sheet."""
    by_colour = {}
    for role, number in order.items():
        colour = palette.colour_of(role)
        by_colour[colour] = by_colour.get(colour, 0) + number
    return sum(sheets.needed(number, size) for number in by_colour.values())
