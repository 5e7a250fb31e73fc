"""Writing a tree to disk, and making the one-commit repository that an agent starts from.

The repository is built from the frozen bytes alone: no clone, no worktree, so no later commit can be read
from it, and no template, hook, filter or configuration of this machine reaches it.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from stages.contract.errors import InputError, UsageError, one_line
from stages.contract.trees import EXECUTABLE, FILE, LINK, Entry

_WHO = b"frozen <frozen@invalid> 946684800 +0000"  # 2000-01-01T00:00:00Z
_MESSAGE = b"frozen\n"
_GIT_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "HOME": os.devnull,
    "LC_ALL": "C",
}


def export(entries: Iterable[Entry], dest: Path, *, git: bool) -> None:
    """Write a tree into `dest`, which is made or must be empty; with `git` as one commit, the same every time.

    Raises InputError for a path that leaves the tree, clashes with another or lies in `.git` (with `git`),
    and for a link whose target is absolute or leaves the tree.
    """
    tree = sorted(entries)
    check(tree, git=git)
    dest.mkdir(parents=True, exist_ok=True)
    if any(dest.iterdir()):
        raise UsageError(dest, "isn't empty", "a fresh folder")
    made = {dest}
    for entry in tree:
        place = dest / entry.path
        if place.parent not in made:
            place.parent.mkdir(parents=True, exist_ok=True)
            made.add(place.parent)
        if entry.mode == LINK:
            os.symlink(entry.content, os.fsencode(place))
        else:
            mode = 0o755 if entry.mode == EXECUTABLE else 0o644
            handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
            with os.fdopen(handle, "wb") as stream:
                stream.write(entry.content)
                os.fchmod(handle, mode)  # whatever the umask
    if git:
        _commit(tree, dest)


def check(tree: Iterable[Entry], *, git: bool = False) -> None:
    """Raise InputError unless every path stays inside, none clashes, and every link stays inside."""
    files: set[str] = set()
    folders: set[str] = set()
    for entry in tree:
        path = entry.path
        parts = path.split("/")
        if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
            raise InputError(path or "(empty)", "not a path inside a tree", "names joined by single slashes")
        if git and any(part.lower() == ".git" for part in parts):
            raise InputError(path, "lies in a .git", "a tree without repositories in it")
        if entry.mode not in (FILE, EXECUTABLE, LINK):
            raise InputError(path, f"mode {entry.mode}", f"{FILE}, {EXECUTABLE} or {LINK}")
        if entry.mode == LINK and not stays_inside(entry):
            raise InputError(path, f"links to {one_line(os.fsdecode(entry.content))}", "a target inside the tree")
        if path in files:
            raise InputError(path, "appears twice", "every path once")
        files.add(path)
        folders.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
    for both in sorted(files & folders):
        raise InputError(both, "is both a file and a folder", "one of them")


def stays_inside(link: Entry) -> bool:
    """Whether a link's target is relative and can't leave the tree by its own text.

    `..` only at the front: behind a name it could climb out through another link.
    """
    target = os.fsdecode(link.content)
    if not target or target.startswith("/") or "\0" in target:
        return False
    parts = [part for part in target.split("/") if part not in ("", ".")]
    ups = 0
    while ups < len(parts) and parts[ups] == "..":
        ups += 1
    depth = posixpath.normpath(link.path).count("/")
    return ".." not in parts[ups:] and ups <= depth


def _commit(tree: list[Entry], dest: Path) -> None:
    """Exact bytes into an object store by fast-import: in-tree attributes can't filter or rewrite them."""
    stream = [b"feature done\n"]
    stream.append(b"commit refs/heads/main\ncommitter %s\ndata %d\n%s" % (_WHO, len(_MESSAGE), _MESSAGE))
    for entry in tree:
        quoted = entry.path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").encode()
        stream.append(b'M %s inline "%s"\ndata %d\n' % (entry.mode.encode(), quoted, len(entry.content)))
        stream.append(entry.content + b"\n")
    stream.append(b"done\n")
    _git(dest, "init", "--quiet", "--template=", "--initial-branch=main")
    _git(dest, "fast-import", "--quiet", "--force", feed=b"".join(stream))
    _git(dest, "read-tree", "HEAD")


def _git(dest: Path, *args: str, feed: bytes = b"") -> None:
    program = shutil.which("git")
    if program is None:
        raise UsageError("git", "isn't installed", "git on PATH")
    env = _GIT_ENV | {"PATH": os.environ.get("PATH", os.defpath), "GIT_CEILING_DIRECTORIES": str(dest.parent)}
    command = [program, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]
    command += ["-c", "core.logAllRefUpdates=false", *args]  # a reflog would tell the time
    done = subprocess.run(command, cwd=dest, env=env, input=feed, capture_output=True, check=False)
    if done.returncode:
        raise UsageError(f"git {args[0]}", done.stderr.decode(errors="replace").strip(), "a git of 2.28 or newer")
