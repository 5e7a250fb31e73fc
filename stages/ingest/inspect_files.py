"""Which files are Inspect logs: `.eval` and `.json`, alone or in folders, each content once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from stages.contract.digest import file_sha256
from stages.contract.errors import InputError, MissingInput
from stages.ingest.lines import check_file, peek
from stages.ingest.model import Notes

MAX_FILES = 10_000
_WHAT = "an Inspect log, `.eval` or `.json`"
_MARKS = (b'"eval"', b'"task"', b'"run_id"')  # keys that each JSON log has in its first bytes


def sniff(path: Path) -> bool:
    """Whether a file, or anything in a folder, is an Inspect log by its name and first bytes."""
    try:
        if path.is_dir():
            return any(sniff(found) for found in _walk(path))
    except (InputError, OSError):
        return False
    if path.suffix == ".eval":
        return peek(path, 4) == b"PK\x03\x04"
    return path.suffix == ".json" and _is_json_log(path)


def logs_of(paths: Sequence[Path], notes: Notes) -> list[tuple[int, Path]]:
    """(which path, log) in order: paths as given, folders by name; a content seen before is noted and left out.

    Raises InputError or MissingInput where a path has no log. JSON files of a folder that are no logs aren't read.
    """
    made: list[tuple[int, Path]] = []
    known: dict[tuple[int, str], Path] = {}
    copies: list[str] = []
    for source, path in enumerate(paths):
        if path.is_dir():
            found = [p for p in _walk(path) if p.suffix == ".eval" or _is_json_log(p)]
            if not found:
                raise InputError(path, "a folder without a log", _WHAT)
        elif not path.exists():
            raise MissingInput(path, "doesn't exist", _WHAT)
        else:
            found = [path]
        for log in found:
            check_file(log, _WHAT)
            try:
                content = log.stat().st_size, file_sha256(log)
            except OSError as error:
                raise InputError(log, f"can't be read ({error.strerror})", _WHAT) from None
            if content in known:
                copies.append(f"{log.name} is {known[content].name}")
            else:
                known[content] = log
                made.append((source, log))
    if copies:
        notes.add("nested_copies", "files", f"{len(copies)} files again: {', '.join(copies[:5])}", len(copies))
    return made


def _is_json_log(path: Path) -> bool:
    head = peek(path)
    return head.lstrip(b" \t\r\n\xef\xbb\xbf").startswith(b"{") and all(mark in head for mark in _MARKS)


def _walk(folder: Path) -> Iterator[Path]:
    """Files named `.eval` and `.json` below a folder, sorted by their relative names. Raises InputError."""

    def fail(error: OSError) -> None:
        raise InputError(error.filename or folder, f"can't be read ({error.strerror})", "a readable folder")

    made: list[tuple[tuple[str, ...], Path]] = []
    for at, folders, files in os.walk(folder, onerror=fail):
        for name in folders:
            if (Path(at) / name).is_symlink():
                raise InputError(Path(at) / name, "is a symbolic link to a folder", "folders themselves")
            if name.endswith(".eval"):
                raise InputError(Path(at) / name, "is a folder", _WHAT)
        for name in files:
            path = Path(at) / name
            if path.suffix in (".eval", ".json"):
                if path.is_symlink():  # a folder's digest follows none
                    raise InputError(path, "is a symbolic link", "the log itself")
                made.append((path.relative_to(folder).parts, path))
        if len(made) > MAX_FILES:
            raise InputError(folder, f"more than {MAX_FILES:,} files", "fewer logs at a time")
    yield from (path for _, path in sorted(made))
