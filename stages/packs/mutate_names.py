"""New names: word-like, of the old one's shape, drawn from the seed, the item and the old name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from stages.contract.digest import sha256

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|_")
_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"
_SYLLABLES = 3


def new_name(seed: int, item_id: str, old: str, taken: Collection[str]) -> str:
    """A name that isn't taken. Underscores, digits and capitals stay where they were.

    Every word becomes three syllables, so a new name is never a keyword and hardly ever a word that was there.
    """
    attempt = 0
    while True:
        drawn = _draw(f"{seed}/{item_id}/{old}/{attempt}")
        made = "".join(_word(part, drawn) for part in _PARTS.findall(old))
        if made not in taken:
            return made
        attempt += 1


def _draw(text: str) -> Iterator[int]:
    """Numbers from 0 to 255 without end, the same on every machine."""
    turn = 0
    while True:
        yield from bytes.fromhex(sha256(f"{text}/{turn}".encode()))
        turn += 1


def _word(part: str, drawn: Iterator[int]) -> str:
    if not part.isalpha():
        return part
    made = "".join(
        _CONSONANTS[next(drawn) % len(_CONSONANTS)] + _VOWELS[next(drawn) % len(_VOWELS)] for _ in range(_SYLLABLES)
    )
    if part.isupper() and len(part) > 1:
        return made.upper()
    return made.capitalize() if part[0].isupper() else made
