"""One command in one sandbox: started, drained, bounded in time, and dead with everything it started.

Safe to call from many threads. Nothing of the caller's environment or descriptors reaches the command.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from stages.sandbox import bubble
from stages.sandbox.bubble import Isolation, Limits
from stages.sandbox.doorway import INSIDE, PORT, STUB, Doorway, Serve
from stages.sandbox.drain import drain
from stages.sandbox.prepare import Launch, Outcome
from stages.sandbox.walk import remove_tree

OUTPUT_CAP = 1_000_000
RESULT_CAP = 16_000_000

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_SLACK_S = 20.0  # what the supervisor may take beyond the time limit before it is killed itself
_LINGER_S = 0.5


def run(
    argv: Sequence[str],
    *,
    isolation: Isolation,
    workspace: Path,
    workspace_writable: bool = True,
    read_only: Sequence[tuple[Path, str]] = (),
    env: Mapping[str, str],
    timeout_s: float,
    cwd: str | None = None,
    output_cap: int = OUTPUT_CAP,
    stdin: bytes | None = None,
    result_fd: bool = False,
    channel: int | None = None,
    stop: int | None = None,
    limits: Limits | None = None,
    serve: Serve | None = None,
) -> Outcome:
    """Run a command and wait until it and all that it started are dead.

    The command finds the workspace at `/ws` and `read_only` paths where they are mapped to; in tier `none` at
    their real paths (`Isolation.place` tells). `cwd` is a path as the command sees it, by default the
    workspace. `env` is added to a fixed PATH (this interpreter first), HOME, TMPDIR, LANG and TZ. With
    `result_fd` a pipe is inherited, its number in WEIGHBRIDGE_RESULT_FD. `serve` is given the socket that listens
    on 127.0.0.1:8787 inside, the only address that can be reached from there (tier `namespaces` only). `channel`
    is a descriptor that is inherited too, its number in WEIGHBRIDGE_CHANNEL_FD; `stop` is the reading end of a pipe,
    and the launch ends when its other end is closed. Both are this function's from the call on. Never raises for
    what the command does.
    """
    launch = Launch(isolation, workspace, limits or Limits())
    for name, handle in (("channel", channel), ("stop", stop)):
        if handle is not None:
            launch.given[name] = launch.fds.adopt(handle)
    door = Doorway.open(serve) if serve is not None and launch.namespaces else None
    if door is not None:
        door.theirs.set_inheritable(True)
        launch.door = door.theirs.fileno()
        read_only = [*read_only, (STUB, INSIDE)]
        argv = [sys.executable, "-I", "-S", INSIDE, str(launch.door), str(PORT), *argv]
    child: subprocess.Popen[bytes] | None = None
    try:
        pipes = launch.pipes(result_fd)
        try:
            spec = launch.spec(argv, launch.environment(env), timeout_s, workspace_writable, read_only, cwd)
            told = launch.fds.memory(marshal.dumps(spec))
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", _SUPERVISOR, str(told)],
                stdin=launch.given["stdin"],
                stdout=launch.given["stdout"],
                stderr=launch.given["stderr"],
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                cwd="/",
                pass_fds=[*launch.passed(), told],
            )
        except (OSError, bubble.NoBubble) as error:
            return launch.outcome({}, {"error": str(error)})
        launch.fds.close(*launch.given.values(), *launch.passed(), told)
        if door is not None:
            door.theirs.close()
            door.thread.start()
        caps = {"stdout": output_cap, "stderr": output_cap, "status": 65536, "result": RESULT_CAP}
        seen = drain(
            pipes,
            caps,
            until="status",
            feed=(launch.feed, stdin or b""),
            deadline=time.monotonic() + timeout_s + _SLACK_S,
            descriptors=launch.fds,
            linger_s=_LINGER_S,
        )
        status = bytes(seen["status"].kept)
        report = marshal.loads(status) if status else {"killed": True}
        return launch.outcome(seen, report)
    finally:
        launch.fds.close_all()  # the lifeline among them: the supervisor ends what is left
        if child is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_SLACK_S)
            child.kill()
            child.wait()
        if door is not None:
            door.close()
        if launch.scratch is not None:
            remove_tree(launch.scratch)
