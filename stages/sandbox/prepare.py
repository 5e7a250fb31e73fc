"""What one launch is made of: descriptors, environment, what the supervisor is told, and what came of it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.contract.errors import UsageError
from stages.sandbox import bubble, groups, seccomp
from stages.sandbox.bubble import Isolation, Limits
from stages.sandbox.drain import Descriptors, Drained

RESULT_FD = "WEIGHBRIDGE_RESULT_FD"
CHANNEL_FD = "WEIGHBRIDGE_CHANNEL_FD"


@dataclass(frozen=True)
class Outcome:
    """What became of one launch.

    `exit_code` follows the shell: 128 + n when signal n ended it, and then `signal` is n (inside a namespace
    a plain exit with such a code looks the same); 127 when the program can't be executed. None: the time
    limit ended it. `launch_failed` is set only when the sandbox itself couldn't be made, which no command can
    bring about. `stdout` and `stderr` are the first `output_cap` bytes, `*_total` how many there were;
    `result` is what was written to the inherited pipe. `wall_s`, `cpu_s` [s] and `max_rss_kb` [KiB] are of
    the whole process tree. `leftover` counts processes that could not be killed. `workspace` is the path that
    the command saw. `limits` says for each limit whether it was enforced, or why not. `stopped` names the limit
    that ended the command while it was watched; `oom_kills` counts processes that the memory limit killed.
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
    stopped: str | None
    oom_kills: int


class Launch:
    """What one launch holds: descriptors, and in tier `none` a scratch folder for home and tmp."""

    def __init__(self, isolation: Isolation, workspace: Path, limits: Limits) -> None:
        self.isolation, self.workspace, self.limits = isolation, workspace.absolute(), limits
        self.namespaces = isolation.tier == "namespaces"
        self.seen = isolation.place(self.workspace, bubble.WORKSPACE)
        self.fds = Descriptors()
        self.given: dict[str, int] = {}  # the child's ends, by name
        self.extra: list[int] = []
        self.feed = -1
        self.door: int | None = None  # what the stub sends its listening socket through
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
        if "channel" in self.given:
            full[CHANNEL_FD] = str(self.given["channel"])
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
        spec: dict[str, Any] = {
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
            "stop": self.given.get("stop"),
            "bubble_status": None,
            "block": None,
            "groups": [],
            "watch": [os.fsencode(self.workspace), self.limits.workspace_bytes, self.limits.workspace_files]
            if writable
            else None,
            "close": [fd for fd in (*map(self.given.get, ("result", "channel")), self.door) if fd is not None],
        }
        bounds = {"processes": self.limits.processes, "memory_bytes": self.limits.memory_bytes}
        for group in self.isolation.groups:
            spec["groups"].append((f"{group.folder}/{groups.name()}", group.settings(bounds)))
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
        calls = seccomp.program()
        refused = None if calls is None else self.fds.memory(calls)
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
            filter_fd=refused,
        )
        arguments = self.fds.memory(b"".join(os.fsencode(word) + b"\0" for word in options))
        inherited = [tell, arguments, *data.values(), *(fd for fd in (wait, refused) if fd is not None)]
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
        names = ("status", "life", "result", "channel", "stop")
        named = [self.given[name] for name in names if name in self.given]
        return [*named, *self.extra, *([] if self.door is None else [self.door])]

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
        if error is None and report.get("groups"):
            error = f"control group: {report['groups']}"
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
            limits=self._enforced(report),
            stopped=report.get("stopped"),
            oom_kills=report.get("oom_kills", 0),
        )

    def _enforced(self, report: Mapping[str, Any]) -> dict[str, bool | str]:
        """For each limit True, or why it isn't held."""
        grouped = {name for group in self.isolation.groups for name in group.controllers}
        counted = report.get("processes")
        sized = True if self.namespaces else "no size limit in tier none"
        return {
            "file_bytes": True,
            "open_files": True,
            "processes": True
            if "pids" in grouped or counted == ""
            else counted or "not counted for this user in this tier",
            "memory": True if "memory" in grouped else "not bounded: no control group can be made",
            "tmp_bytes": sized,
            "home_bytes": sized,
            "workspace": "watched",
        }
