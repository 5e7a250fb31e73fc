"""What must not be frozen: caches, editor files, version control, names that some file systems can't tell apart."""

from __future__ import annotations

import fnmatch
import posixpath
import re
import unicodedata
from collections.abc import Sequence

from stages.contract import limits
from stages.contract.errors import InputError
from stages.contract.trees import LINK, Entry
from stages.contract.types import check_path

_CACHES = (
    *("__pycache__", "*.pyc", "*.pyo", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox"),
    *(".eggs", "*.egg-info", ".coverage", ".ipynb_checkpoints", ".venv", "node_modules"),
)
_VERSION_CONTROL = (".git", ".hg", ".svn", ".dvc", "*.orig", "*.rej")
_EDITORS = (".idea", ".vscode", "*~", "*.swp", "*.swo", ".#*", "#*#")
_DESKTOPS = (".DS_Store", "__MACOSX", "Thumbs.db", "desktop.ini")
_REFUSED = _CACHES + _VERSION_CONTROL + _EDITORS + _DESKTOPS
_ANY = re.compile("|".join(map(fnmatch.translate, _REFUSED)))
_MAX_STEPS = 40  # of links, as in Linux


def refused_name(path: str) -> str | None:
    """The pattern by which a path is refused, if any part of it is a cache or an editor's file."""
    for part in path.split("/"):
        if _ANY.match(part):
            return next(pattern for pattern in _REFUSED if fnmatch.fnmatchcase(part, pattern))
    return None


def check_tree(where: str, entries: Sequence[Entry], *, authored: bool = True) -> None:
    """Raise InputError at the first file that can't be frozen.

    With `authored` false (a git source, whose bytes the author may not own) caches, names that differ by case only
    and links to nothing are let through.
    """
    files = {entry.path for entry in entries}
    folders: set[str] = set()
    spelt: dict[str, str] = {}
    total = 0
    for entry in entries:
        place = f"{where}/{entry.path}"
        try:
            check_path(entry.path)
        except ValueError as error:
            raise InputError(place, "a name that can't be frozen", str(error), "rename it") from None
        pattern = refused_name(entry.path) if authored else None
        if pattern or ".git" in entry.path.casefold().split("/"):
            raise InputError(
                place,
                f"a cache, editor or version-control file ({pattern or '.git'})",
                "authored files only",
                "delete it",
            )
        for path in _prefixes(entry.path):
            same = unicodedata.normalize("NFC", path).casefold()
            if authored and spelt.setdefault(same, path) != path:
                raise InputError(
                    place,
                    f"differs from {spelt[same]} by case or accents only",
                    "names that every file system can hold",
                    "rename one",
                )
            if path != entry.path:
                folders.add(path)
        if len(entry.content) > limits.MAX_FILE_BYTES:
            raise InputError(place, f"{len(entry.content):,} bytes", f"at most {limits.MAX_FILE_BYTES:,} a file")
        total += len(entry.content)
    if len(entries) > limits.MAX_FILES_PER_ITEM or total > limits.MAX_ITEM_BYTES:
        raise InputError(
            where,
            f"{len(entries):,} files of {total:,} bytes",
            f"at most {limits.MAX_FILES_PER_ITEM:,} files of {limits.MAX_ITEM_BYTES:,} bytes",
        )
    if files & folders:
        raise InputError(f"{where}/{min(files & folders)}", "is both file and folder", "one or the other")
    _check_links(where, entries, files | folders | {"."}, authored)


def _prefixes(path: str) -> list[str]:
    """The path and the folders that it lies in, outermost first."""
    return [path[:at] for at, char in enumerate(path) if char == "/"] + [path]


def _check_links(where: str, entries: Sequence[Entry], known: set[str], authored: bool) -> None:
    links = {e.path: e.content.decode("utf-8", "replace") for e in entries if e.mode == LINK}
    for path, target in links.items():
        # `..` after a name would leave a folder that may itself be a link; only at the start it is what it seems.
        up = re.match(r"(?:\.\./|\./|\.\.$)*", target)
        below = target[up.end() :] if up else target
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if (
            not target
            or len(target) > limits.MAX_PATH_CHARS
            or target.startswith("/")
            or ".." in below.split("/")
            or whole == ".."
            or whole.startswith("../")
        ):
            raise InputError(
                f"{where}/{path}", f"a link to {target}", "a link that stays inside the folder", "replace it"
            )
        if authored and not _leads(whole, links, known):
            raise InputError(f"{where}/{path}", f"a link to {target}, which isn't there", "a link to a file", "mend it")


def _leads(path: str, links: dict[str, str], known: set[str]) -> bool:
    """Whether a path of the tree is a file or folder in the end, links followed."""
    for _ in range(_MAX_STEPS):
        step = next((prefix for prefix in _prefixes(path) if prefix in links), None)
        if step is None:
            return path in known
        path = posixpath.normpath(posixpath.join(posixpath.dirname(step), links[step], path[len(step) + 1 :]))
    return False
