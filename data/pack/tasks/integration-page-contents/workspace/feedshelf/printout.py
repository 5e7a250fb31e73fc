"""Lists for paper."""
from feedshelf.walker import walk


def titles(shelf) -> list[str]:
    """All titles in the order of the shelf."""
    return [entry.title for entry in walk(shelf)]


def contents(shelf) -> list[str]:
    """Lines of page, position and title."""
    return [f"{entry.page}.{entry.position} {entry.title}" for entry in walk(shelf)]


def last_page(shelf) -> int:
    """The page of the last title, 0 if there is none."""
    return max((entry.page for entry in walk(shelf)), default=0)
