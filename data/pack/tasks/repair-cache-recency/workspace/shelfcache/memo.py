"""Remembering what a function of one text returned."""

from collections.abc import Callable

from shelfcache.cache import ShelfCache

_ABSENT = object()


def remember(function: Callable[[str], object], capacity: int = 16) -> Callable[[str], object]:
    """A version of ``function`` which asks its cache first."""
    cache = ShelfCache(capacity)

    def remembered(text: str) -> object:
        value = cache.get(text, _ABSENT)
        if value is _ABSENT:
            value = function(text)
            cache.put(text, value)
        return value

    remembered.cache = cache
    return remembered
