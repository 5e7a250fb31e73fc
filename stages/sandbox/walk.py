"""The produced tree, read by our own walk: no link followed, nothing skipped but the top-level `.git`.

Every open goes through the handle of the folder above it, so a path that is swapped while we read can't lead
outside. The agent's `.git`, `.gitignore` and attributes are never consulted: what lies on disk counts.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.contract.errors import InputError, one_line
from stages.contract.trees import EXECUTABLE, FILE, LINK, Change, Entry

MAX_FILES = 20_000  # paths of any kind, special files and folders included
MAX_DEPTH = 64  # folders within folders
MAX_PATH_BYTES = 2_000
MAX_FILE_BYTES = 32 << 20
MAX_TREE_BYTES = 128 << 20

_KINDS = (
    (stat.S_ISFIFO, "fifo"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


@dataclass(frozen=True, order=True)
class Special:
    """A path that no frozen tree can hold. `kind`: fifo, socket, device, unreadable, name (not UTF-8, escaped)."""

    path: str
    kind: str


@dataclass(frozen=True)
class Tree:
    """What lies on disk: files and links, and apart from them what is neither, both sorted by path."""

    entries: list[Entry]
    specials: list[Special]


class TreeTooLarge(InputError):
    """A produced tree breaks a limit. `limit` is one of files, depth, path, file_bytes, tree_bytes."""

    def __init__(self, path: str, limit: str, most: int) -> None:
        self.limit = limit
        super().__init__(path or ".", f"tree is too large ({limit})", f"at most {most}")


@dataclass
class _Budget:
    files: int
    file_bytes: int
    tree_bytes: int
    seen: int = 0
    read: int = 0

    def count(self, path: str) -> None:
        self.seen += 1
        if self.seen > self.files:
            raise TreeTooLarge(path, "files", self.files)

    def reach(self, path: str) -> None:
        # What is read by handles is written back by whole paths, which the kernel bounds.
        if len(path.encode()) > MAX_PATH_BYTES:
            raise TreeTooLarge(f"{path[:60]}…", "path", MAX_PATH_BYTES)

    def take(self, path: str, size: int) -> None:
        if size > self.file_bytes:
            raise TreeTooLarge(path, "file_bytes", self.file_bytes)
        if self.read + size > self.tree_bytes:
            raise TreeTooLarge(path, "tree_bytes", self.tree_bytes)


def read_tree(
    root: Path,
    *,
    skip_git: bool,
    max_files: int = MAX_FILES,
    max_file_bytes: int = MAX_FILE_BYTES,
    max_tree_bytes: int = MAX_TREE_BYTES,
) -> Tree:
    """Read a folder. Empty folders leave no trace, as in git. `skip_git` leaves out the top-level `.git`.

    A file or folder that we own but may not read gets its owner's permissions back and is read.
    Raises TreeTooLarge, and InputError when `root` itself is no readable folder.
    """
    budget = _Budget(max_files, max_file_bytes, max_tree_bytes)
    entries: list[Entry] = []
    specials: list[Special] = []

    def folder(handle: int, prefix: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise TreeTooLarge(prefix, "depth", MAX_DEPTH)
        with os.scandir(handle) as listing:
            names = []
            for found in listing:
                budget.count(prefix)
                names.append(found.name)
        for name in sorted(names):
            if skip_git and depth == 0 and name == ".git":
                continue
            path = prefix + name
            try:
                path.encode()
            except UnicodeEncodeError:
                specials.append(Special(_escaped(path), "name"))
                continue
            budget.reach(path)
            one(handle, name, path, depth)

    def one(handle: int, name: str, path: str, depth: int) -> None:
        mode = os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            target = os.readlink(os.fsencode(name), dir_fd=handle)
            budget.read += len(target)
            entries.append(Entry(path, LINK, target))
        elif stat.S_ISDIR(mode):
            inner = _open(name, handle, mode | stat.S_IRWXU)
            if inner is None:
                specials.append(Special(path, "unreadable"))
                return
            with _closing(inner):
                folder(inner, path + "/", depth + 1)
        elif stat.S_ISREG(mode):
            opened = _open(name, handle, mode | stat.S_IRUSR)
            if opened is None:
                specials.append(Special(path, "unreadable"))
                return
            with _closing(opened):
                content = _content(opened, path, budget)
            entries.append(Entry(path, EXECUTABLE if mode & stat.S_IXUSR else FILE, content))
        else:
            kind = next((kind for test, kind in _KINDS if test(mode)), "device")
            specials.append(Special(path, kind))

    top = _open(str(root), None, stat.S_IFDIR | stat.S_IRWXU)
    if top is None:
        raise InputError(root, "can't be read as a folder", "a folder that this user may read")
    with _closing(top):
        folder(top, "", 0)
    return Tree(sorted(entries), sorted(specials))


def compare(frozen: Iterable[Entry], produced: Tree) -> list[Change]:
    """What an agent changed, sorted by path. Nothing is left out, whoever made it."""
    before = {entry.path: entry for entry in frozen}
    after = {entry.path: entry for entry in produced.entries}
    special = {found.path: f"special:{found.kind}" for found in produced.specials}
    changes = []
    for path in sorted(before.keys() | after.keys() | special.keys()):
        old, new = before.get(path), after.get(path)
        mode, sha = (old.mode, old.sha256) if old else (None, None)
        if path in special:
            changes.append(Change(path, "special", mode, special[path], sha, None, None))
        elif new is None:
            changes.append(Change(path, "delete", mode, None, sha, None, None))
        elif old is None:
            changes.append(Change(path, "add", None, new.mode, None, new.sha256, new.content))
        elif old.content != new.content or (old.mode != new.mode and LINK in (old.mode, new.mode)):
            changes.append(Change(path, "modify", mode, new.mode, sha, new.sha256, new.content))
        elif old.mode != new.mode:
            changes.append(Change(path, "mode", mode, new.mode, sha, new.sha256, new.content))
    return changes


def remove_tree(root: Path) -> None:
    """Delete a folder that an agent had, whatever permissions it left behind. Follows no link."""

    def retry(_: Callable[..., Any], path: str, __: object) -> None:
        parent = os.path.dirname(path)
        for locked in (parent, path):
            if not os.path.islink(locked):
                with contextlib.suppress(OSError):
                    os.chmod(locked, stat.S_IRWXU)
        with contextlib.suppress(OSError):
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)

    try:
        shutil.rmtree(root, onerror=retry)
    except RecursionError:  # thousands of folders within folders
        subprocess.run(["rm", "-rf", "--", str(root)], check=False, capture_output=True)


def _escaped(path: str) -> str:
    """A name that isn't UTF-8 as text: each stray byte as `\\xNN`, a backslash doubled."""
    raw = path.replace("\\", "\\\\").encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "backslashreplace")


def _open(name: str, folder: int | None, mode: int) -> int | None:
    """Open what `mode` says it is, by handle and without following a link.

    Where permissions forbid it they are set to `mode` through a handle that needs none, once. None: it stays
    shut.
    """
    kind = os.O_DIRECTORY if stat.S_ISDIR(mode) else os.O_NONBLOCK
    for last in (False, True):
        try:
            return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | kind, dir_fd=folder)
        except PermissionError:
            if last:
                return None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(name, one_line(error.strerror), "a tree that rests while it is read") from error
        try:
            handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        except OSError:
            return None
        with _closing(handle), contextlib.suppress(OSError):
            os.chmod(f"/proc/self/fd/{handle}", stat.S_IMODE(mode))
    return None


def _content(handle: int, path: str, budget: _Budget) -> bytes:
    budget.take(path, os.fstat(handle).st_size)
    pieces, size = [], 0
    while piece := os.read(handle, 1 << 20):
        size += len(piece)
        budget.take(path, size)  # a file may be longer than it says
        pieces.append(piece)
    budget.read += size
    return b"".join(pieces)


@contextlib.contextmanager
def _closing(handle: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(handle)
