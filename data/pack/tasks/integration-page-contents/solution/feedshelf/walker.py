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
    for page in range(1, shelf.page_count() + 1):
        for position, title in enumerate(shelf.fetch(page - 1), start=1):
            yield Entry(page, position, title)
