"""Runs beside each trial, outside: starts the command, ends its process tree, counts what it used.

Executed as a file by `python -I -S` with one argument, the descriptor of a marshalled dict. It imports
nothing of ours and little of the standard library, since every trial pays for it. It adopts orphans
(PR_SET_CHILD_SUBREAPER), so that a daemon that left its session is still found, and reads a lifeline: when
the runner dies or says so, all die.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` costs an import of enum
import ctypes
import marshal
import os
import resource
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PDEATHSIG, SUBREAPER = 1, 36
GRACE_S = 10.0  # for a tree that doesn't die


def main(spec_fd: int) -> None:
    began = time.monotonic()
    with os.fdopen(spec_fd, "rb") as stream:
        spec = marshal.load(stream)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PDEATHSIG, _signal.SIGTERM, 0, 0, 0)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    _signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    for number in (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
        _signal.signal(number, lambda *_: None)
    for name in ("status", "life", "bubble_status", "block"):
        if spec[name] is not None:
            os.set_inheritable(spec[name], False)

    report: dict[str, Any] = {"error": None, "code": None, "timed_out": False, "left": 0}
    report.update(cpu_s=0.0, rss_kb=0, wall_s=0.0, processes=None)
    try:
        child = start(spec)
    except OSError as error:
        report["error"] = str(error)
        finish(spec, report)
        return
    watch(spec, report, child, wake_read, began)
    end(report, child, spec["bubble_status"] is None)
    finish(spec, report)


def start(spec: dict[str, Any]) -> int:
    """Fork, set limits, execute. The child's descriptors are closed here, so that its end shows as EOF."""
    child = os.fork()
    if child == 0:
        try:
            if spec["bubble_status"] is None:
                os.setsid()
            for number in (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP, _signal.SIGPIPE):
                _signal.signal(number, _signal.SIG_DFL)
            for limit, value in spec["rlimits"].items():
                hard = resource.getrlimit(limit)[1]
                value = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.setrlimit(limit, (value, value))
            if spec["cwd"] is not None:
                os.chdir(spec["cwd"])
            os.execvpe(spec["argv"][0], spec["argv"], spec["env"])
        except OSError as error:
            os.write(2, f"can't start {spec['argv'][0]!r}: {error.strerror}\n".encode())
        finally:
            os._exit(127)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    for number in spec["close"]:
        os.close(number)
    return child


def watch(spec: dict[str, Any], report: dict[str, Any], child: int, wake: int, began: float) -> None:
    """Wait for the command, the time limit, or the end of the runner."""
    poller = select.poll()
    poller.register(wake, select.POLLIN)
    poller.register(spec["life"], select.POLLIN)
    bubble = spec["bubble_status"]
    told = b""
    if bubble is not None:
        poller.register(bubble, select.POLLIN)
    deadline = began + spec["timeout_s"]
    waiting = True
    while waiting:
        left = deadline - time.monotonic()
        if left <= 0:
            report["timed_out"] = True
            break
        for number, _ in poller.poll(int(left * 1000) + 1):
            if number == wake:
                signals = os.read(wake, 64)
                if any(sent != _signal.SIGCHLD for sent in signals) or reap(report, child, False):
                    waiting = False
            elif number == spec["life"]:
                waiting = False
            else:
                piece = os.read(bubble, 65536)
                told += piece
                if not piece:
                    poller.unregister(bubble)
                elif spec["block"] is not None and b'"child-pid"' in told:
                    report["processes"] = release(spec, told)
                    spec["block"] = None
    report["wall_s"] = time.monotonic() - began
    if bubble is None or report["code"] is None or report["code"] > 128:
        return
    while piece := os.read(bubble, 65536):
        told += piece
    if b'"exit-code"' not in told:  # bubblewrap gave up by itself, before the command was run
        report["error"] = "bubblewrap"


def release(spec: dict[str, Any], told: bytes) -> str:
    """Bound the processes of the new user namespace, then let bubblewrap go on. Says what went wrong."""
    digits = told.split(b'"child-pid":', 1)[1].split(b",", 1)[0].strip(b" }\n")
    try:
        resource.prlimit(int(digits), resource.RLIMIT_NPROC, (spec["processes"], spec["processes"]))
        return ""
    except (OSError, ValueError) as error:
        return str(error)
    finally:
        os.write(spec["block"], b"x")
        os.close(spec["block"])


def reap(report: dict[str, Any], child: int, everything: bool) -> bool:
    """Collect what ended. True when `child` did, or when nothing is left and `everything` is asked for."""
    while True:
        try:
            pid, status, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid == 0:
            return not everything and report["code"] is not None
        report["cpu_s"] += used.ru_utime + used.ru_stime
        report["rss_kb"] = max(report["rss_kb"], used.ru_maxrss)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            report["code"] = code if code >= 0 else 128 - code


def end(report: dict[str, Any], child: int, sweep: bool) -> None:
    """Kill until nothing is left. In a namespace the death of its first process takes all others along."""
    until, pause = time.monotonic() + GRACE_S, 0.0005
    if report["code"] is None:
        kill(child)
        if sweep:
            kill(-child)
    while not reap(report, child, True):
        if time.monotonic() > until:
            report["left"] = len(descendants())
            break
        if sweep:
            for pid in descendants():
                kill(pid)
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def kill(pid: int) -> None:
    try:  # noqa: SIM105  contextlib would have to be imported
        os.kill(pid, _signal.SIGKILL)
    except OSError:
        pass


def descendants() -> set[int]:
    """Every process below this one, from /proc."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stream:
                    parents[int(name)] = int(stream.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue
    found = {os.getpid()}
    grew = True
    while grew:
        new = {pid for pid, parent in parents.items() if parent in found} - found
        grew = bool(new)
        found |= new
    return found - {os.getpid()}


def finish(spec: dict[str, Any], report: dict[str, Any]) -> None:
    with os.fdopen(spec["status"], "wb") as stream:
        stream.write(marshal.dumps(report))


if __name__ == "__main__":
    main(int(sys.argv[1]))
