"""Paths as diffs write them: quoted in C's manner, behind `a/` and `b/`, with times after a tab, or `/dev/null`."""

from __future__ import annotations

import re

_LONGEST = 2000
_ESCAPE = re.compile(rb"\\(?:([0-3][0-7]{2})|(.))", re.DOTALL)
_SHORT = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_PREFIXES = (b"a/", b"b/", b"i/", b"w/", b"c/", b"o/", b"1/", b"2/")  # git's own, and its mnemonic ones
_NOWHERE = b"/dev/null"


def tree_path(raw: bytes) -> str:
    """A path of the tree. Raises ValueError for one that leads out of it, into `.git`, or isn't printable UTF-8."""
    try:
        path = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("a path that isn't UTF-8") from None
    parts = path.split("/")
    if len(raw) > _LONGEST or not path.isprintable():
        raise ValueError(f"a path that is longer than {_LONGEST} bytes or isn't printable")
    if any(part in ("", ".", "..") for part in parts) or "\\" in path or re.match(r"[A-Za-z]:", path):
        raise ValueError(f"the path {path[:200]!r}, which leads out of the tree")
    if any(part.lower() == ".git" for part in parts):
        raise ValueError(f"the path {path[:200]!r}, which is git's own")
    return path


def quoted(raw: bytes) -> bytes:
    """A path out of its quotes, if it has some. Raises ValueError for quotes that don't close."""
    if not raw.startswith(b'"'):
        return raw
    if len(raw) < 2 or not raw.endswith(b'"'):
        raise ValueError("a quoted path that doesn't end")

    def one(match: re.Match[bytes]) -> bytes:
        if match[1]:
            return bytes([int(match[1], 8)])
        if match[2][0] not in _SHORT:
            raise ValueError("an escape in a quoted path that git doesn't write")
        return bytes([_SHORT[match[2][0]]])

    return _ESCAPE.sub(one, raw[1:-1])


def header_paths(old: bytes, new: bytes, git: bytes) -> tuple[bytes | None, bytes | None]:
    """Both paths of `--- old` and `+++ new` without prefixes, None for /dev/null. `git`: what follows `diff --git `."""
    sides = [quoted(side.split(b"\t")[0]) for side in (old, new)]  # a tab within a path stands quoted, as \\t
    before, after = (None if side == _NOWHERE else side for side in sides)
    if git:
        known = [side for side in (before, after) if side is not None]
        stripped = all(side.startswith(_PREFIXES) for side in known) and not _bare(git)
        return (before and before[2:], after and after[2:]) if stripped else (before, after)
    if before is None or after is None:
        side = before or after
        bare = side[2:] if side is not None and side.startswith(_PREFIXES[:2]) else side
        return (None if before is None else bare, None if after is None else bare)
    if before != after and before.partition(b"/")[2] == after.partition(b"/")[2] != b"":
        return before.partition(b"/")[2], after.partition(b"/")[2]  # `diff -ru old new`
    return before, after


def one_path(git: bytes) -> bytes:
    """The one path that `a/PATH b/PATH` names twice. Raises ValueError where the two differ."""
    if git.startswith(b'"'):
        end = re.match(rb'"(?:[^"\\]|\\.)*"', git)
        sides = [quoted(git[: end.end()]), quoted(git[end.end() + 1 :])] if end else []
    else:
        half = (len(git) - 1) // 2
        sides = [git[:half], git[half + 1 :]] if git[half : half + 1] == b" " else []
    if len(sides) != 2:
        raise ValueError("two different paths and no rename")
    if sides[0] == sides[1]:
        return sides[0]
    if all(side.startswith(_PREFIXES) for side in sides) and sides[0][2:] == sides[1][2:]:
        return sides[0][2:]
    raise ValueError("two different paths and no rename")


def named(git: bytes) -> bytes | None:
    """The one path of git's own line, None where it has two or can't be taken apart."""
    try:
        return one_path(git)
    except ValueError:
        return None


def _bare(git: bytes) -> bool:
    """Whether git was told to write no prefixes: its line then names the same path twice."""
    half = (len(git) - 1) // 2
    return git[half : half + 1] == b" " and git[:half] == git[half + 1 :]
