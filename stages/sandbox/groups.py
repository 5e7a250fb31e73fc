"""Bounds on a whole process tree by control groups, where this user may make them (cgroups(7), versions 1 and 2).

Only a group bounds the memory of a tree, and the processes of root, whom RLIMIT_NPROC exempts.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PREFIX = "weighbridge-"

_FILES = {
    (1, "pids"): {"pids.max": "processes"},
    (2, "pids"): {"pids.max": "processes"},
    # The second bounds memory and swap together; not every kernel has it.
    (1, "memory"): {"memory.limit_in_bytes": "memory_bytes", "memory.memsw.limit_in_bytes?": "memory_bytes"},
    (2, "memory"): {"memory.max": "memory_bytes", "memory.swap.max?": "0"},
    (1, "cpuacct"): {},  # bounds nothing, counts
}


@dataclass(frozen=True)
class Group:
    """A folder below which a group can be made, and what it bounds or counts: `pids`, `memory`, `cpuacct`."""

    version: int
    folder: str
    controllers: tuple[str, ...]

    def settings(self, values: dict[str, int]) -> dict[str, bytes]:
        """File name to content. A name that ends in `?` may be missing."""
        files = {k: v for name in self.controllers for k, v in _FILES[self.version, name].items()}
        return {name: b"%d" % (values[word] if word in values else int(word)) for name, word in files.items()}


def find(mounts: str | None = None, own: str | None = None) -> tuple[Group, ...]:
    """The groups that can be made here: tried, not assumed. Empty where there are none.

    `mounts` and `own` are the texts of /proc/self/mountinfo and /proc/self/cgroup.
    """
    try:
        mounts = Path("/proc/self/mountinfo").read_text() if mounts is None else mounts
        own = Path("/proc/self/cgroup").read_text() if own is None else own
    except OSError:
        return ()
    found: list[Group] = []
    missing = {"pids", "memory", "cpuacct"}  # the last is part of every group of version 2
    for version, folder, controllers in _candidates(mounts, own):
        wanted = tuple(sorted(missing & set(controllers)))
        group = Group(version, str(folder), wanted)
        if wanted and _works(group):
            found.append(group)
            missing -= set(wanted)
            _sweep(folder)
    return tuple(found)


def name() -> str:
    """A fresh name that tells whose group it is, so that what a killed run left behind can be swept up."""
    return f"{PREFIX}{os.getpid()}-{os.urandom(8).hex()}"


def _candidates(mounts: str, own: str) -> Iterable[tuple[int, Path, list[str]]]:
    """(version, folder, controllers that it may have), the process's own group before the one above it."""
    at: dict[str, tuple[Path, str]] = {}
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields, kinds = left.split(), right.split()
        if len(fields) < 5 or len(kinds) < 3 or kinds[0] not in ("cgroup", "cgroup2"):
            continue
        names = [""] if kinds[0] == "cgroup2" else kinds[2].split(",")
        for one in names:
            at.setdefault(one, (Path(fields[4]), fields[3]))
    for line in own.splitlines():
        _, names_, path = line.split(":", 2)
        for one in names_.split(","):
            if one not in at or one not in ("", "pids", "memory", "cpuacct") or path.startswith("/.."):
                continue
            mount, root = at[one]
            inside = path[len(root) :] if root != "/" and path.startswith(root) else path
            folder = mount / inside.strip("/")
            controllers = [one] if one else ["pids", "memory"]
            yield (1 if one else 2), folder, controllers
            if folder != mount:
                yield (1 if one else 2), folder.parent, controllers


def _works(group: Group) -> bool:
    """Whether a group can be made here and takes its bounds."""
    folder = Path(group.folder, name())
    try:
        folder.mkdir()
    except OSError:
        return False
    try:
        for file, content in group.settings({"processes": 64, "memory_bytes": 1 << 28}).items():
            place = folder / file.rstrip("?")
            if not place.exists() and file.endswith("?"):
                continue
            if not place.exists():  # writing would try to make it
                return False
            place.write_bytes(content)
        return os.access(folder / "cgroup.procs", os.W_OK)
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _sweep(folder: Path) -> None:
    """Remove empty groups of processes that are gone."""
    for left in folder.glob(f"{PREFIX}*"):
        owner = left.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                left.rmdir()
