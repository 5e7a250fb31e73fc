"""Find the handler for a path."""
from roomroute.captures import to_date, to_int


class Router:
    """Routes in the order in which they were added."""

    def __init__(self) -> None:
        self._routes = []

    def add(self, pattern: str, handler) -> None:
        """Add a route, such as ``/rooms/<int:room>``."""
        self._routes.append((_split(pattern), handler))

    def resolve(self, path: str):
        """The handler for a path and its params, or None."""
        words = _split(path)
        for pattern, handler in self._routes:
            params = _match(pattern, words)
            if params is not None:
                return handler, params
        return None


_CONVERTERS = {"int": to_int, "date": to_date}


def _split(path: str) -> list:
    return path.strip("/").split("/")


def _match(pattern: list, words: list):
    if len(pattern) != len(words):
        return None
    params = {}
    for piece, word in zip(pattern, words):
        if piece.startswith("<"):
            kind, _, name = piece[1:-1].rpartition(":")
            try:
                params[name] = _CONVERTERS[kind](word) if kind else word
            except ValueError:
                return None
        elif piece != word:
            return None
    return params
