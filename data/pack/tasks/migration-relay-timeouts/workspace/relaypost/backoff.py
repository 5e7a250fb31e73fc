"""How long to wait between attempts. All times are whole milliseconds."""

BASE_MS = 250
CAP_MS = 8000


def backoff_ms(attempt: int) -> int:
    """The wait before an attempt (they count from 0), doubling up to the cap."""
    if attempt < 0:
        raise ValueError("attempts count from 0")
    return min(CAP_MS, BASE_MS * 2 ** attempt)


def _whole(value):
    if type(value) is not int:
        raise TypeError(f"whole milliseconds expected, not {value!r}")
    return value


class Deadline:
    """The time up to which something may be tried."""

    def __init__(self, started_ms: int, limit_ms: int):
        self._end = _whole(started_ms) + _whole(limit_ms)

    def left_ms(self, now_ms: int) -> int:
        """What is left, at least 0."""
        return max(0, self._end - _whole(now_ms))

    def passed(self, now_ms: int) -> bool:
        """True from the deadline on."""
        return _whole(now_ms) >= self._end
