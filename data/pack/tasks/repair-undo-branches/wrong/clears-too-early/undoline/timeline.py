"""The states before and after the current one."""


class Timeline:
    """A current state with a bounded past."""

    def __init__(self, state: str, limit: int = 100):
        if limit < 1:
            raise ValueError("limit must be at least 1")
        self._limit = limit
        self._current = state
        self._past: list[str] = []
        self._future: list[str] = []

    @property
    def current(self) -> str:
        return self._current

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    def record(self, state: str) -> bool:
        """Make ``state`` the current one; false if it was that already."""
        self._future.clear()
        if state == self._current:
            return False
        self._past.append(self._current)
        self._current = state
        if len(self._past) > self._limit:
            self._past.pop(0)
        return True

    def undo(self) -> str:
        """Go back by one state."""
        if self._past:
            self._future.append(self._current)
            self._current = self._past.pop()
        return self._current

    def redo(self) -> str:
        """Take back the latest undo."""
        if self._future:
            self._past.append(self._current)
            self._current = self._future.pop()
        return self._current

    def forget(self) -> None:
        """Keep the current state only."""
        self._past.clear()
        self._future.clear()
