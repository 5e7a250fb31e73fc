"""Path patterns of a contract, with semantics of their own so that they depend on no library.

- Patterns and paths are relative, with `/`. Matching is case-sensitive and covers the whole path.
- `*` stands for any run of characters within one segment, dots at its start included.
- `**` as a whole segment stands for any number of segments, none included, and at the end of a pattern for at
  least one, so that `billing/**` doesn't cover a link called `billing`. Inside a segment it is `*`.
- A pattern that ends in `/` means everything below that folder. A bare folder name allows nothing below it.
- Every other character means itself: `?`, `[` and `\\` too.
"""

from __future__ import annotations

from collections.abc import Iterable

from stages.contract.errors import InputError


def matches(patterns: Iterable[str], path: str) -> bool:
    """Whether a pattern covers the path. A path with empty, `.` or `..` segments is covered by none.

    Raises InputError for a pattern that is empty, absolute, or steps upwards.
    """
    parsed = [_segments(pattern) for pattern in patterns]
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return False
    return any(_covers(segments, parts) for segments in parsed)


def _segments(pattern: str) -> list[str]:
    segments = pattern.split("/")
    if segments[-1] == "" and len(segments) > 1:
        segments[-1] = "**"
    if any(segment in ("", ".", "..") for segment in segments):
        raise InputError(
            "allow.files_write",
            f"the pattern {pattern!r}",
            "a relative path without empty, `.` or `..` segments",
            "write it from the workspace's root",
        )
    return segments


def _covers(segments: list[str], parts: list[str]) -> bool:
    # reach[i]: the segments so far can end before part i
    reach = [True] + [False] * len(parts)
    for place, segment in enumerate(segments, 1):
        if segment == "**":
            before, reach = reach, list(reach) if place < len(segments) else [False] * len(reach)
            for i in range(len(parts)):
                reach[i + 1] = reach[i + 1] or reach[i] or before[i]
        else:
            reach = [False] + [reach[i] and _covers_segment(segment, part) for i, part in enumerate(parts)]
    return reach[-1]


def _covers_segment(segment: str, part: str) -> bool:
    first, *rest = segment.split("*")
    if not rest:
        return segment == part
    *middle, last = rest
    if not part.startswith(first) or len(part) < len(first) + len(last) or not part.endswith(last):
        return False
    at, end = len(first), len(part) - len(last)
    for piece in middle:
        found = part.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
