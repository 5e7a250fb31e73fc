"""A cache of which each entry has an age up to which it is good."""


class Shelf:
    """Entries by key. `clock` is a callable that gives the time in minutes."""

    def __init__(self, clock):
        self._clock = clock
        self._entries = {}

    def store(self, key: str, value, *, max_age: float) -> None:
        """Keep a value for up to `max_age` minutes."""
        now = self._clock()
        self._entries[key] = (value, now, now + max_age)

    def fetch(self, key: str):
        """The value, or None when there is none or it is too old."""
        value, _, until = self._entries.get(key, (None, 0, 0))
        return value if self._clock() < until else None

    def age(self, key: str):
        """Minutes since the value was stored; None when `fetch` has none either."""
        if self.fetch(key) is None:
            return None
        return self._clock() - self._entries[key][1]

    def evict(self, prefix: str) -> list:
        """Throw away the keys with a prefix; gives them sorted."""
        gone = sorted(key for key in self._entries if key.startswith(prefix))
        for key in gone:
            del self._entries[key]
        return gone
