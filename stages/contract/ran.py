"""What lines of a patch were seen to do while an oracle ran: told by the sandbox, unsigned, no part of a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stages.contract.lines import is_binary, touched
from stages.contract.trees import LINK, Entry

DIRECT = "direct"
LONGEST = 400
Ranges = list[list[int]]


class Ran(NamedTuple):
    """One thing that a line of a patch did. `kind` and `symbol` are the ledger's; `line` is 1-based in `path`.

    `how`: `direct`, or `via library X` or `via X of the tree` where that stood between the line and the deed.
    """

    path: str
    line: int
    kind: str
    symbol: str
    how: str


def ran_from(words: object) -> Ran | None:
    """A record as it was told, None where it isn't one: whoever runs in the sandbox may have written it."""
    if not isinstance(words, list | tuple) or len(words) != 5 or type(words[1]) is not int:
        return None
    path, line, kind, symbol, how = words
    texts = (path, kind, symbol, how)
    if not all(isinstance(text, str) and 0 < len(text) <= LONGEST for text in texts) or not 0 < line < 2**31:
        return None
    if any("\ud800" <= letter <= "\udfff" for text in texts for letter in text):
        return None
    return Ran(path, line, kind, symbol, how)


def new_lines(frozen: Iterable[Entry], tree: Iterable[Entry]) -> dict[str, Ranges]:
    """For each source that differs from the frozen tree the lines [first, last] that are new in it, for a watcher.

    Of a link that is new, all are: what it leads to is run under its name.
    """
    old = {entry.path: entry for entry in frozen}
    found: dict[str, Ranges] = {}
    for entry in tree:
        was = old.get(entry.path)
        name = entry.path.rpartition("/")[2]
        if entry == was or not (name.endswith((".py", ".pyw")) or "." not in name):
            continue
        if entry.mode == LINK:
            found[entry.path] = [[1, 2**31]]
        elif not is_binary(entry.content):
            base = was.content if was is not None and was.mode != LINK and not is_binary(was.content) else None
            ranges = touched(base, entry.content).ranges
            if ranges:
                found[entry.path] = ranges
    return found
