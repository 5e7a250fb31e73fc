"""A key that an answer repeats doesn't reach the agent: it goes as asterisks, as many as it has bytes.

Known by its own bytes: a provider that would repeat it in another writing can't be kept from it.
"""

from __future__ import annotations

from typing import TypeGuard

_SHORTEST = 8  # what a local server calls its key (`none`, `EMPTY`) is a word that answers may have


def secret(key: str | None) -> TypeGuard[str]:
    """Whether a key is one that nobody may see."""
    return key is not None and len(key) >= _SHORTEST


def without(text: str, key: str | None) -> str:
    """Text with the key as asterisks."""
    return text.replace(key, "*" * len(key)) if secret(key) else text


class Redactor:
    """Bytes pass as they come, but for the key, and for a tail that may be its beginning, which waits for more."""

    def __init__(self, key: str | None) -> None:
        self.key = key.encode() if secret(key) else b""
        self.stars = b"*" * len(self.key)
        self.tail = b""

    def feed(self, piece: bytes) -> bytes:
        """What may go on now."""
        if not self.key:
            return piece
        whole = self.tail + piece
        if self.key in whole:
            whole = whole.replace(self.key, self.stars)
        at = whole.find(self.key[:1], max(len(whole) - len(self.key) + 1, 0))
        while at >= 0 and not self.key.startswith(whole[at:]):
            at = whole.find(self.key[:1], at + 1)
        self.tail = whole[at:] if at >= 0 else b""
        return whole[:at] if at >= 0 else whole

    def rest(self) -> bytes:
        """What was held back, at the end."""
        rest, self.tail = self.tail, b""
        return rest
