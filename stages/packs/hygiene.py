"""What must not be frozen: caches, editor files, version control, names that some file systems can't tell apart."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from pathlib import PurePosixPath

from stages.contract import limits
from stages.contract.errors import InputError
from stages.contract.trees import LINK, Entry
from stages.contract.types import check_path

_REFUSED = (
    *(
        "__pycache__",
        "*.pyc",
        "*.pyo",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".tox",
        ".nox",
    ),
    *(
        ".venv",
        "node_modules",
        "*.egg-info",
        ".coverage",
        ".ipynb_checkpoints",
        ".git",
        ".hg",
        ".svn",
        ".dvc",
    ),
    *(
        ".idea",
        ".vscode",
        ".DS_Store",
        "Thumbs.db",
        "desktop.ini",
        "*~",
        "*.swp",
        "*.swo",
        ".#*",
        "#*#",
        "*.orig",
        "*.rej",
    ),
)


def refused_name(path: str) -> str | None:
    """The pattern by which a path is refused, if any part of it is a cache or an editor's file."""
    for part in path.split("/"):
        for pattern in _REFUSED:
            if fnmatch.fnmatchcase(part, pattern):
                return pattern
    return None


def check_tree(where: str, entries: Iterable[Entry], *, caches: bool = True) -> None:
    """Raise InputError at the first file that can't be frozen.

    With `caches` false (a git source, whose bytes the author may not own) names of caches are let through.
    """
    seen: dict[str, str] = {}
    total = count = 0
    for entry in entries:
        try:
            check_path(entry.path)
        except ValueError as error:
            raise InputError(where, str(error), "a relative path inside the folder", "rename it") from None
        pattern = refused_name(entry.path) if caches else None
        if pattern:
            raise InputError(
                f"{where}/{entry.path}",
                f"a cache, editor or version-control file ({pattern})",
                "authored files only",
                "delete it",
            )
        folded = entry.path.casefold()
        if folded in seen:
            raise InputError(
                f"{where}/{entry.path}",
                f"differs from {seen[folded]} by case only",
                "names that every file system can hold",
            )
        seen[folded] = entry.path
        if entry.mode == LINK:
            _check_link(where, entry)
        if len(entry.content) > limits.MAX_FILE_BYTES:
            raise InputError(
                f"{where}/{entry.path}",
                f"{len(entry.content):,} bytes",
                f"at most {limits.MAX_FILE_BYTES:,} a file",
            )
        total, count = total + len(entry.content), count + 1
    if count > limits.MAX_FILES_PER_ITEM or total > limits.MAX_ITEM_BYTES:
        raise InputError(
            where,
            f"{count:,} files of {total:,} bytes",
            f"at most {limits.MAX_FILES_PER_ITEM:,} files of {limits.MAX_ITEM_BYTES:,} bytes",
        )


def _check_link(where: str, entry: Entry) -> None:
    target = entry.content.decode("utf-8", "replace")
    depth = len(PurePosixPath(entry.path).parent.parts)
    for part in target.split("/"):
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        if depth < 0:
            break
    if target.startswith("/") or depth < 0:
        raise InputError(
            f"{where}/{entry.path}",
            f"a link to {target}",
            "a link that stays inside the folder",
            "replace it",
        )
