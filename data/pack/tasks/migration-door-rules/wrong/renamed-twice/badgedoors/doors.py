"""Doors and their log."""


def open_door(book, badge: str, area: str, log: list) -> None:
    """Open a door for a badge and log it; raises Denied, and logs nothing, without the right."""
    book.require(badge, area)
    log.append((badge, area))


def first_open(book, badge: str, areas: list):
    """The first of the areas which the badge may enter, or None."""
    for area in areas:
        if book.require(badge, area):
            return area
    return None


def walk(book, badge: str, areas: list, log: list) -> int:
    """Go through areas in order up to the first closed one; gives how many were entered."""
    for number, area in enumerate(areas):
        if not book.require(badge, area):
            return number
        open_door(book, badge, area, log)
    return len(areas)
