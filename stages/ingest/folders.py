"""Folders of foreign logs: which files they hold, in order of their names, without leaving them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from stages.contract.errors import InputError, MissingInput
from stages.contract.text import kind, read_bytes
from stages.ingest.lines import parse_lenient, raw_lines
from stages.ingest.model import Notes

MAX_ENTRIES = 500_000


def entries(folder: Path, what: str) -> list[Path]:
    """What a folder holds, by name. Raises InputError."""
    try:
        found = sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(folder, f"can't be read ({error.strerror})", what) from None
    return [folder / one for one in found]


def walk(root: Path, depth: int, what: str, notes: Notes, inside: Callable[[Path], bool]) -> Iterator[Path]:
    """The root and folders below it, to a depth, each before what it holds; `inside` says whether to look below one.

    A link to a folder within the root would be read twice: it is noted and left. One that leads out of it, or more
    entries than any log has, raises InputError.
    """
    left = MAX_ENTRIES
    waiting = [(root, 0)]
    while waiting:
        folder, level = waiting.pop()
        yield folder
        if level >= depth or not inside(folder):
            continue
        found = entries(folder, what)
        left -= len(found)
        if left < 0:
            raise InputError(root, f"more than {MAX_ENTRIES:,} entries", what)
        below = []
        for one in found:
            mode = _mode(one)
            if stat.S_ISLNK(mode):
                if one.is_dir():
                    _linked(root, one, notes)
            elif stat.S_ISDIR(mode):
                below.append((one, level + 1))
        waiting += reversed(below)


def _linked(root: Path, link: Path, notes: Notes) -> None:
    try:
        within = link.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        within = False
    if not within:
        raise InputError(link, "is a link to a folder elsewhere", "a folder", "copy it here or give its own path")
    notes.add("nested_copies", link.name, "a link to a folder that is read already")


def plain(path: Path) -> bool:
    """Whether a regular file is there. Raises InputError for a link: what it leads to isn't of this log."""
    mode = _mode(path)
    if stat.S_ISLNK(mode):
        raise InputError(path, "is a symbolic link", "a regular file")
    return stat.S_ISREG(mode)


def _mode(path: Path) -> int:
    """What a path itself is, 0 for nothing. Raises InputError where that can't be told."""
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        raise InputError(path, f"can't be looked at ({error.strerror})", "a readable path") from None


def json_object(path: Path, limit: int, what: str) -> tuple[dict[str, Any], bytes]:
    """(object, bytes) of a JSON file; NaN and Infinity are read as floats. Raises InputError."""
    data = read_bytes(path, limit, what)
    if not data.strip():
        raise InputError(path, "is empty", what)
    value = parse_lenient(path, data)
    if not isinstance(value, dict):
        raise InputError(path, f"holds {kind(value)} at the top", what)
    return value, data


def json_rows(path: Path, what: str, notes: Notes) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, object) of JSON lines in which NaN may stand. A last line that is cut off is noted as torn, a bad one
    elsewhere raises InputError."""
    for number, line, ended in raw_lines(path, what):
        try:
            value = parse_lenient(f"{path}: line {number}", line)
        except InputError:
            if ended or number == 1:
                raise
            notes.add("torn_line", path.name, f"line {number} is cut off after {len(line)} bytes")
            return
        if not isinstance(value, dict):
            raise InputError(f"{path}: line {number}", f"holds {kind(value)}", "an object")
        yield number, value


def present(path: Path, what: str) -> None:
    """Raise MissingInput unless something is there."""
    if not _mode(path) or (path.is_symlink() and not path.exists()):
        raise MissingInput(path, "doesn't exist", what)
