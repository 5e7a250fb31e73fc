"""One command in one sandbox: started, drained, bounded in time, and dead with everything it started.

Safe to call from many threads. Nothing of the caller's environment or descriptors reaches the command.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.contract.errors import UsageError
from stages.sandbox import bubble
from stages.sandbox.bubble import Isolation, Limits
from stages.sandbox.drain import Descriptors, Drained, drain
from stages.sandbox.walk import remove_tree

OUTPUT_CAP = 1_000_000
RESULT_CAP = 16_000_000
RESULT_FD = "WEIGHBRIDGE_RESULT_FD"

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_SLACK_S = 20.0  # what the supervisor may take beyond the time limit before it is killed itself
_LINGER_S = 0.5


@dataclass(frozen=True)
class Outcome:
    """What became of one launch.

    `exit_code` follows the shell: 128 + n when signal n ended it, and then `signal` is n (inside a namespace
    a plain exit with such a code looks the same); 127 when the program can't be executed. None: the time
    limit ended it. `launch_failed` is set only when the sandbox itself couldn't be made, which no command can
    bring about. `stdout` and `stderr` are the first `output_cap` bytes, `*_total` how many there were;
    `result` is what was written to the inherited pipe. `wall_s`, `cpu_s` [s] and `max_rss_kb` [KiB] are of
    the whole process tree. `leftover` counts processes that could not be killed. `workspace` is the path that
    the command saw. `limits` says for each limit whether it was enforced, or why not.
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    launch_failed: str | None
    wall_s: float
    cpu_s: float
    max_rss_kb: int
    stdout: bytes
    stdout_total: int
    stderr: bytes
    stderr_total: int
    result: bytes
    result_total: int
    leftover: int
    workspace: str
    limits: Mapping[str, bool | str]


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
    limits: Limits | None = None,
) -> Outcome:
    """Run a command and wait until it and all that it started are dead.

    The command finds the workspace at `/ws` and `read_only` paths where they are mapped to; in tier `none` at
    their real paths (`Isolation.place` tells). `cwd` is a path as the command sees it, by default the
    workspace. `env` is added to a fixed PATH (this interpreter first), HOME, TMPDIR, LANG and TZ. With
    `result_fd` a pipe is inherited, its number in WEIGHBRIDGE_RESULT_FD. Never raises for what the command
    does.
    """
    launch = _Launch(isolation, workspace, limits or Limits())
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
        if launch.scratch is not None:
            remove_tree(launch.scratch)


class _Launch:
    """What one launch holds: descriptors, and in tier `none` a scratch folder for home and tmp."""

    def __init__(self, isolation: Isolation, workspace: Path, limits: Limits) -> None:
        self.isolation, self.workspace, self.limits = isolation, workspace.absolute(), limits
        self.namespaces = isolation.tier == "namespaces"
        self.seen = isolation.place(self.workspace, bubble.WORKSPACE)
        self.fds = Descriptors()
        self.given: dict[str, int] = {}  # the child's ends, by name
        self.extra: list[int] = []
        self.feed = -1
        self.scratch: Path | None = None

    def pipes(self, result_fd: bool) -> dict[str, int]:
        """Our reading ends; the child's ends go to `given`, the writing end of its stdin to `feed`."""
        ours = {}
        for name in ("stdout", "stderr", "status", *(("result",) if result_fd else ())):
            ours[name], self.given[name] = self.fds.pipe()
        self.given["stdin"], self.feed = self.fds.pipe()
        self.given["life"], _ = self.fds.pipe()
        return ours

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        if self.namespaces:
            home, tmp = bubble.HOME, bubble.TMP
        else:
            self.scratch = Path(tempfile.mkdtemp(prefix="wb-"))
            home, tmp = str(self.scratch / "home"), str(self.scratch / "tmp")
            os.mkdir(home)
            os.mkdir(tmp)
        path = f"{os.path.dirname(sys.executable)}:/usr/local/bin:/usr/bin:/bin"
        full = {"PATH": path, "HOME": home, "TMPDIR": tmp, "LANG": "C.UTF-8", "TZ": "UTC"} | dict(env)
        if "result" in self.given:
            full[RESULT_FD] = str(self.given["result"])
        return full

    def spec(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        timeout_s: float,
        writable: bool,
        read_only: Sequence[tuple[Path, str]],
        cwd: str | None,
    ) -> dict[str, Any]:
        """What the supervisor is told. `close` are descriptors that only the command may keep."""
        import resource  # there is none on Windows, where this module is imported too

        words = (*argv, cwd or "", *env, *env.values(), *(inside for _, inside in read_only))
        if not argv or any("\0" in word for word in words) or any("=" in key for key in env):
            raise UsageError("launch", "an empty command, a NUL or a = in a name", "words that a program can be given")
        spec = {
            "argv": [os.fsencode(word) for word in argv],
            "env": {os.fsencode(key): os.fsencode(value) for key, value in env.items()},
            "cwd": cwd or self.seen,
            "timeout_s": float(timeout_s),
            "rlimits": {
                resource.RLIMIT_FSIZE: self.limits.file_bytes,
                resource.RLIMIT_CORE: 0,
                resource.RLIMIT_NOFILE: self.limits.open_files,
            },
            "processes": self.limits.processes,
            "status": self.given["status"],
            "life": self.given["life"],
            "bubble_status": None,
            "block": None,
            "close": [self.given["result"]] if "result" in self.given else [],
        }
        return self._bubbled(spec, env, writable, read_only) if self.namespaces else spec

    def _bubbled(
        self,
        spec: dict[str, Any],
        env: Mapping[str, str],
        writable: bool,
        read_only: Sequence[tuple[Path, str]],
    ) -> dict[str, Any]:
        hear, tell = self.fds.pipe()
        wait, release = self.fds.pipe() if os.geteuid() else (None, None)  # root's processes aren't counted
        data = {path: self.fds.memory(content) for path, content in bubble.files().items()}
        options = bubble.options(
            workspace=self.workspace,
            workspace_writable=writable,
            read_only=[(host.absolute(), inside) for host, inside in read_only],
            env=env,
            cwd=spec["cwd"],
            limits=self.limits,
            data=data,
            status_fd=tell,
            block_fd=wait,
        )
        arguments = self.fds.memory(b"".join(os.fsencode(word) + b"\0" for word in options))
        inherited = [tell, arguments, *data.values(), *([] if wait is None else [wait])]
        self.extra = [hear, *inherited, *([] if release is None else [release])]
        return spec | {
            "argv": [
                os.fsencode(self.isolation.bwrap or "bwrap"),
                b"--args",
                b"%d" % arguments,
                b"--",
                *spec["argv"],
            ],
            "env": {},  # bubblewrap's own, which its first process would show to the command
            "cwd": None,
            "bubble_status": hear,
            "block": release,
            "close": [*spec["close"], *inherited],
        }

    def passed(self) -> list[int]:
        return [self.given[name] for name in ("status", "life", "result") if name in self.given] + self.extra

    def outcome(self, seen: Mapping[str, Drained], report: Mapping[str, Any]) -> Outcome:
        nothing = Drained(0)
        out, err, result = (seen.get(name, nothing) for name in ("stdout", "stderr", "result"))
        code = 128 + 9 if report.get("killed") else report.get("code")
        error = report.get("error")
        if report.get("timed_out"):
            code = None
        if error == "bubblewrap":  # it gave up before the command ran, so these are its own words
            error = bytes(err.kept[:300]).decode(errors="replace").strip() or "bubblewrap gave up"
            if error.startswith("bwrap: execvp "):
                error, code = None, 127
        counted = report.get("processes")
        limits: dict[str, bool | str] = {"file_bytes": True, "open_files": True}
        limits["processes"] = True if counted == "" else counted or "not counted for this user in this tier"
        sized = True if self.namespaces else "no size limit in tier none"
        limits |= {"tmp_bytes": sized, "home_bytes": sized, "memory": "not bounded"}
        return Outcome(
            exit_code=code,
            signal=code - 128 if code is not None and 128 < code <= 192 else None,
            timed_out=bool(report.get("timed_out")),
            launch_failed=error,
            wall_s=report.get("wall_s", 0.0),
            cpu_s=report.get("cpu_s", 0.0),
            max_rss_kb=report.get("rss_kb", 0),
            stdout=bytes(out.kept),
            stdout_total=out.total,
            stderr=bytes(err.kept),
            stderr_total=err.total,
            result=bytes(result.kept),
            result_total=result.total,
            leftover=report.get("left", 0),
            workspace=self.seen,
            limits=limits,
        )
