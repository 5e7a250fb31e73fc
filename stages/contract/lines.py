"""Lines: which ones a patch added, counted as the smallest number that any diff could give.

Lines end at LF, CRLF or CR, as Python's own do, and keep their ends. Work is done on bytes: in every encoding
that is read (`source.ENCODINGS`) the line ends are those bytes and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from itertools import accumulate

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MAX_TABLE_BITS = 8 * 64 * 2**20


class Touched:
    """The 1-based lines of a produced file that a patch added or changed."""

    def __init__(self, flags: Sequence[bool], exact: bool = True) -> None:
        self.exact = exact
        self._sums = [0, *accumulate(map(int, flags))]

    @property
    def count(self) -> int:
        return self._sums[-1]

    @property
    def ranges(self) -> list[list[int]]:
        """[first, last] of every run of such lines."""
        found: list[list[int]] = []
        for line in range(1, len(self._sums)):
            if self._sums[line] > self._sums[line - 1]:
                if found and found[-1][1] == line - 1:
                    found[-1][1] = line
                else:
                    found.append([line, line])
        return found

    def any(self, first: int, last: int) -> bool:
        """Whether a line in first..last, both included, was added or changed."""
        top = len(self._sums) - 1
        low, high = min(max(first - 1, 0), top), min(max(last, 0), top)
        return self._sums[high] > self._sums[low]


def is_binary(content: bytes) -> bool:
    """Git's rule: a NUL among the first 8,000 bytes."""
    return b"\0" in content[:8000]


def split(content: bytes) -> list[bytes]:
    return _LINE.findall(content)


def touched(before: bytes | None, after: bytes) -> Touched:
    """The lines of `after` outside a longest common subsequence with `before` (None: a new file).

    Where that would take a table of more than 64 MB, all lines between the common head and tail count,
    and `exact` is False.
    """
    new = split(after)
    old = split(before) if before is not None else []
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    known_old, known_new = set(middle_old), set(middle_new)
    a = [line for line in middle_old if line in known_new]
    places = [i for i, line in enumerate(middle_new) if line in known_old]
    flags = [head <= i < len(new) - tail for i in range(len(new))]
    if len(a) * len(places) > _MAX_TABLE_BITS:
        return Touched(flags, exact=False)
    for i in _common(a, [middle_new[i] for i in places]):
        flags[head + places[i]] = False
    return Touched(flags)


def _common(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[int]:
    """Indices of `b` in one longest common subsequence, latest matches first.

    Bit-parallel (Hyyrö 2004, "Bit-parallel LCS-length computation revisited"): a zero at bit i of row j says
    that the length for a[:i+1], b[:j] is one more than for a[:i], b[:j].
    """
    mask = (1 << len(a)) - 1
    at: dict[Hashable, int] = {}
    for i, item in enumerate(a):
        at[item] = at.get(item, 0) | 1 << i
    row, rows = mask, []
    for item in b:
        both = row & at.get(item, 0)
        row = ((row + both) | (row - both)) & mask
        rows.append(row)
    i, j, found = len(a), len(b), []
    while i and j:
        if a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
            found.append(j)
        elif rows[j - 1] >> (i - 1) & 1:
            i -= 1
        else:
            j -= 1
    return found
