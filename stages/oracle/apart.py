"""Two sandboxes and a socket between them: the code under test in one, the oracle's tests in the other."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from stages.contract.ran import Ranges
from stages.oracle import cache
from stages.sandbox import ENVIRONMENT, Isolation, Limits, Outcome, packages, run

PLACE = Path(__file__).with_name("inside")
TREE, DRIVER = "/ws", "/driver"

_AFTER_S = 5.0  # a tree that hangs is ended by the tests' time limit, and not before it
_SHOWN = 2000


def wheels(places: Mapping[str, Path]) -> list[tuple[Path, str]]:
    """The mount of the item's environment, where it has one."""
    return [(places["environment"], ENVIRONMENT)] if "environment" in places else []


def modules(places: Mapping[str, Path], isolation: Isolation) -> str | None:
    """Where code in a sandbox finds the modules of the item's environment."""
    if "environment" not in places:
        return None
    return packages(isolation.place(places["environment"], ENVIRONMENT))


def offered(tree: Path) -> list[str]:
    """The names of the modules at the top of a tree."""
    found = sorted(os.scandir(tree), key=lambda entry: entry.name)
    names = [one.name.partition(".")[0] for one in found if one.name.endswith((".py", ".so")) or _is_folder(one)]
    return [name for name in names if name.isidentifier()]


def _is_folder(one: os.DirEntry[str]) -> bool:
    try:
        return one.is_dir()
    except OSError:  # a link to itself, or through a file
        return False


def apart(
    tests: Callable[[int], Outcome],
    places: Mapping[str, Path],
    lines: dict[str, Ranges],
    timeout_s: float,
    isolation: Isolation,
    limits: Limits | None,
) -> Outcome:
    """What `tests`, given its end of the socket, reports, with the tree at the other end; the tree ends when it does.

    What the patch's lines did (`lines`) is told on a pipe of the tree's own, of which nothing else is believed.

    CPU seconds are those of both sandboxes, the memory peak is the larger one, and output is cut to its first bytes.
    """
    compiled, tree = cache.compiled(), places["tree"]
    mounts = [(PLACE, DRIVER), (compiled, cache.INSIDE), *wheels(places)]
    inside = {host: isolation.place(host, name) for host, name in mounts}
    asked: dict[str, Any] = {
        "tree": isolation.place(tree, TREE),
        "lines": lines,
        "environment": modules(places, isolation),
    }
    here, there = socket.socketpair()
    stop, stopper = os.pipe()
    with ThreadPoolExecutor(1) as pool:
        product = pool.submit(
            run,
            [
                *(sys.executable, "-I", "-B", "-X", f"pycache_prefix={inside[compiled]}"),
                f"{inside[PLACE]}/product.py",
            ],
            isolation=isolation,
            workspace=tree,
            workspace_writable=True,  # a copy that is thrown away
            read_only=mounts,
            env={"WEIGHBRIDGE_TREE": asked["tree"]},
            cwd=isolation.place(tree.parent, "/tmp"),
            timeout_s=timeout_s + _AFTER_S,
            stdin=json.dumps(asked).encode(),
            result_fd=True,
            channel=there.detach(),
            stop=stop,
            limits=limits,
        )
        try:
            seen = tests(here.detach())
        finally:
            os.close(stopper)
        other = product.result()
    return replace(
        seen,
        result=_told(other.result) + seen.result,
        launch_failed=seen.launch_failed or other.launch_failed,
        stopped=seen.stopped or other.stopped,
        oom_kills=seen.oom_kills + other.oom_kills,
        cpu_s=seen.cpu_s + other.cpu_s,
        max_rss_kb=max(seen.max_rss_kb, other.max_rss_kb),
        stdout=seen.stdout[-_SHOWN:] + other.stdout[-_SHOWN:],
        stderr=seen.stderr[-_SHOWN:] + other.stderr[-_SHOWN:],
    )


def _told(written: bytes) -> bytes:
    """Of what the tree's side wrote the records of what it did, whole lines."""
    whole = written[: written.rfind(b"\n") + 1]
    return b"".join(line + b"\n" for line in whole.split(b"\n") if line.startswith(b"!ran:"))
