"""The cache itself."""

from collections import OrderedDict


class ShelfCache:
    """Holds at most ``capacity`` entries and drops the least recently used one."""

    def __init__(self, capacity: int):
        if capacity < 1:
            raise ValueError("capacity must be at least 1")
        self.capacity = capacity
        self.hits = 0
        self.misses = 0
        self.evicted = 0
        self._entries: OrderedDict[str, object] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def keys(self) -> list[str]:
        """All keys, the one used longest ago first."""
        return list(self._entries)

    def peek(self, key: str, default: object = None) -> object:
        """Like ``get``, but doesn't count as use."""
        return self._entries.get(key, default)

    def get(self, key: str, default: object = None) -> object:
        """The value kept for ``key``, which thereby is used."""
        if key not in self._entries:
            self.misses += 1
            return default
        self.hits += 1
        self._touch(key)
        return self._entries[key]

    def put(self, key: str, value: object) -> None:
        """Keep ``value``, if need be in the place of another entry."""
        if key in self._entries:
            self._touch(key)
        elif len(self._entries) >= self.capacity:
            self._entries.popitem(last=False)
            self.evicted += 1
        self._entries[key] = value

    def _touch(self, key: str) -> None:
        self._entries.move_to_end(key)
