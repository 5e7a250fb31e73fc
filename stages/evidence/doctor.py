"""What this machine gives: isolation, limits, versions, and what would give better ones."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from typing import Any

from stages.contract.bill import PACKAGES, installed_version
from stages.sandbox import Isolation, Limits, find

_LIMITS = {
    "processes": "processes of one launch",
    "memory_bytes": "bytes of memory of one launch",
    "file_bytes": "bytes of one file",
    "open_files": "open files of one process",
    "tmp_bytes": "bytes in the temporary folder",
    "home_bytes": "bytes in the home folder",
    "workspace_bytes": "bytes in the workspace",
    "workspace_files": "files in the workspace",
}
_AS_PROMISED = {"home_bytes": "tmp_bytes"}  # sized the same way, so tried once
_WATCHED = "watched once a second: what outgrows it is ended"

_NO_NAMESPACES = (
    "agents can read the oracle here, so decisions are withheld as not_isolated; allow user namespaces"
    " (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, or"
    " user.max_user_namespaces above 0; in a container, a profile that permits them), then run this again"
)
_NO_MEMORY = (
    "memory isn't bounded: run as root, or where this user may make control groups"
    " (for instance under `systemd-run --user --scope -p Delegate=yes`)"
)
_NO_PROCESSES = "the number of processes isn't bounded: run as an ordinary user, or mount the pids control group"
_NO_FILTER = "no system call is filtered on this kind of machine: x86_64 and aarch64 have a filter"
_NO_GIT = "git isn't on PATH: install it for git sources, task tags, DVC, and the commit that a campaign ran at"


def examine_machine() -> dict[str, Any]:
    """Tier, what holds, limits with whether each is enforced, versions, advice."""
    isolation = find("auto")
    return {
        "isolation": isolation.tier,
        "why": isolation.why,
        "enforced": {name: held for name, held in sorted(isolation.enforced.items()) if held is True},
        "limits": _limits(isolation),
        "groups": {name: f"version {g.version}" for g in isolation.groups for name in g.controllers},
        "advice": _advice(isolation),
        "cores": os.cpu_count(),
        "user": "root" if os.geteuid() == 0 else "an ordinary user",
        "git": _version(shutil.which("git")),
        "bubblewrap": _version(isolation.bwrap),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": {name: installed_version(name) for name in PACKAGES},
    }


def _limits(isolation: Isolation) -> dict[str, dict[str, Any]]:
    """Each limit of a launch: how much, of what, and whether it is held (a text says why not)."""
    limits, found = Limits(), {}
    for name, what in _LIMITS.items():
        held: bool | str = isolation.enforced.get(_AS_PROMISED.get(name, name), f"not held in tier {isolation.tier}")
        if name.startswith("workspace_"):
            held = _WATCHED
        elif isolation.tier == "none" and name in ("file_bytes", "open_files"):
            held = True
        found[name] = {"limit": getattr(limits, name), "of": what, "held": held}
    return found


def _advice(isolation: Isolation) -> list[str]:
    without_git = [] if shutil.which("git") else [_NO_GIT]
    if isolation.tier == "none":
        return [_NO_NAMESPACES, *without_git]
    known = {"memory_bytes": _NO_MEMORY, "processes": _NO_PROCESSES, "filtered": _NO_FILTER}
    lacking = {name: held for name, held in sorted(isolation.enforced.items()) if held is not True}
    return [*(known.get(name, f"{name}: {held}") for name, held in lacking.items()), *without_git]


def _version(program: str | None) -> str | None:
    """The first line of `program --version`, or None where there is no such program."""
    if program is None:
        return None
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return next(iter(done.stdout.splitlines()), None)
