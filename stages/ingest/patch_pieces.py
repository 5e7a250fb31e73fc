"""One side of a diff as files: whole where the diff holds all of a file, else its hunks joined so that they parse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stages.contract import lines
from stages.contract.trees import FILE, LINK, Op
from stages.ingest.diffs import FileDiff, Hunk
from stages.ingest.fragments import Row, imports_alone, readable

_PYTHON = (".py", ".pyi", ".pyw")
_SUPPOSED = {
    **dict.fromkeys(_PYTHON, ("import os, sys, subprocess, importlib",)),
    ".go": ("package p", 'import "os"', 'import "os/exec"'),
    ".rs": ("use std::env;", "use std::process::Command;"),
}
"""What a piece of a file is taken to have at its unseen head."""
_ATTEMPTS, _ATTEMPTS_IN_ALL = 30, 20_000


@dataclass(frozen=True)
class Piece:
    """What is known of a file on one side; `was` is its mode before.

    `places`: for each line of `content` its number if the diff added it, 0 if it didn't, None if it was put there.
    `whole`: nothing of the file is missing. `alone`: numbers of added lines in pieces that can't be parsed;
    of these, `content` has only those that are imports by themselves.
    """

    side: str
    op: Op
    was: str | None
    mode: str
    content: bytes | None
    places: list[int | None]
    whole: bool
    alone: frozenset[int]


def pieces(files: Sequence[FileDiff], side: str) -> dict[str, Piece]:
    """Path to what the diff shows of it, after (`+`) or before (`-`); files that aren't there on that side are left
    out, and on the side before those without hunks."""
    by_path: dict[str, list[FileDiff]] = {}
    for file in files:
        path = file.after if side == "+" else file.before
        if path is not None and (side == "+" or file.hunks):
            by_path.setdefault(path, []).append(file)
    hunks = sum(len(file.hunks) for file in files)
    attempts = max(1, min(_ATTEMPTS, _ATTEMPTS_IN_ALL // max(hunks, 1)))
    return {path: _piece(path, parts, side, attempts) for path, parts in by_path.items()}


def _piece(path: str, parts: Sequence[FileDiff], side: str, attempts: int) -> Piece:
    last = parts[-1]
    was, mode = last.mode_before, (last.mode_after if side == "+" else last.mode_before) or FILE
    op: Op = "add" if parts[0].before is None or last.op in ("rename", "copy") else "modify"
    if last.op == "mode":
        return Piece(side, "mode", was, mode, None, [], False, frozenset())
    if mode == "160000":
        return Piece(side, "special", was, "special:submodule", None, [], False, frozenset())
    if last.binary:
        return Piece(side, op, was, mode, b"\0", [], False, frozenset())
    sole = parts[0] if len(parts) == 1 else None
    if mode == LINK or (sole is not None and sole.op == ("add" if side == "+" else "delete")):
        # an edited link shows its whole target
        rows = [row for part in parts[-1:] for hunk in part.hunks for row in _numbered(hunk, side)]
        bare = any(side in hunk.ends_bare for hunk in last.hunks)
        whole = b"\n".join(line for line, _ in rows) + b"\n" * (bool(rows) and not bare)
        places: list[int | None] = []
        for line, place in rows:
            places += [place] * max(1, len(lines.split(line + b"\n")))
        return Piece(side, op, was, mode, whole, places, mode != LINK, frozenset())
    supposed = next((head for suffix, head in _SUPPOSED.items() if path.endswith(suffix)), ())
    made, alone = [Row(line, None) for line in supposed], set()
    for part in parts:
        for hunk in part.hunks:
            found, lost = _fragment(path, hunk, side, attempts)
            made += found
            alone |= lost
    content = "".join(f"{row.text}\n" for row in made).encode()
    return Piece(side, op, was, mode, content, [row.place for row in made], False, frozenset(alone))


def _fragment(path: str, hunk: Hunk, side: str, attempts: int) -> tuple[list[Row], set[int]]:
    """A hunk's rows as they can be read, and the numbers of added lines that can't."""
    rows = [
        Row(piece.decode("utf-8", "replace").rstrip("\r\n").replace("\0", " "), place)
        for line, place in _numbered(hunk, side)
        for piece in lines.split(line + b"\n")
    ]
    if not path.endswith(_PYTHON):
        return rows, set()
    found = readable(rows, attempts)
    if found is not None:
        return found, set()
    return imports_alone(rows), {row.place for row in rows if row.place and row.text.strip()}


def _numbered(hunk: Hunk, side: str) -> Iterator[tuple[bytes, int]]:
    """(line, number if this side added it, else 0) of one side. On the side before nothing is added."""
    for sign, number, line in hunk.numbered(side):
        yield line, number if sign == side == "+" else 0
