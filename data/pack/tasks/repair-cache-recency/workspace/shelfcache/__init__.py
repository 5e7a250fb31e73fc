"""A small least-recently-used cache."""

from shelfcache.cache import ShelfCache
from shelfcache.memo import remember

__all__ = ["ShelfCache", "remember"]
