"""Go through a shelf from the first page to the last."""
from typing import NamedTuple

from feedshelf.shelf import Shelf


class Entry(NamedTuple):
    """One title and where a reader finds it (pages and positions from 1)."""

    page: int
    position: int
    title: str


def walk(shelf: Shelf):
    """Yield an entry for each title of the shelf."""
    for page in range(shelf.page_count()):
        for position, title in enumerate(shelf.fetch(page), start=1):
            yield Entry(page, position, title)
