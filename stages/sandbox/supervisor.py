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
NEWUSER, NEWPID = 0x10000000, 0x20000000
GRACE_S = 10.0  # for a tree that doesn't die
LOOK_S = 1.0  # between two looks at how large a workspace has grown
MOST_DEEP = 200  # the walk of a produced tree stops far earlier


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
    for name in ("status", "life", "stop", "bubble_status", "block"):
        if spec[name] is not None:
            os.set_inheritable(spec[name], False)
    if spec["bubble_status"] is not None:
        own_pids(libc)

    report: dict[str, Any] = {"error": None, "code": None, "timed_out": False, "left": 0}
    report.update(cpu_s=0.0, rss_kb=0, wall_s=0.0, processes=None, groups=None, stopped=None, oom_kills=0)
    try:
        make_groups(spec)
        child = start(spec, libc)
    except OSError as error:
        report["error"] = str(error)
        remove_groups(spec, report)
        finish(spec, report)
        return
    watch(spec, report, child, wake_read, began)
    end(report, child, spec["bubble_status"] is None, [folder for folder, _ in spec["groups"]])
    remove_groups(spec, report)
    finish(spec, report)


def own_pids(libc: Any) -> None:
    """Give our child a process namespace, in which it is the first: its death, at any moment, is that of all others.

    Until bubblewrap runs the command, its inner process doesn't notice the death of the outer one. Where no such
    namespace can be made a kill in these milliseconds may leave a process behind that waits and does nothing.
    """
    if libc.unshare(NEWPID) == 0:
        return
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(NEWUSER | NEWPID) == 0:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as stream:
                stream.write(text)


def make_groups(spec: dict[str, Any]) -> None:
    """Make the control groups and set their bounds. A setting whose name ends in `?` may not exist."""
    for folder, settings in spec["groups"]:
        os.mkdir(folder)
        for name, value in settings.items():
            try:
                handle = os.open(f"{folder}/{name.rstrip('?')}", os.O_WRONLY)
            except OSError:
                if name.endswith("?"):
                    continue
                raise
            try:
                os.write(handle, value)
            finally:
                os.close(handle)


def remove_groups(spec: dict[str, Any], report: dict[str, Any]) -> None:
    """Note what the launch used and what the memory limit killed, and remove the groups, which are empty by now."""
    for folder, _ in spec["groups"]:
        report["oom_kills"] += said(folder, "memory.events", b"oom_kill ") or said(
            folder, "memory.oom_control", b"oom_kill "
        )
        # Of processes that were killed with their namespace the kernel tells nobody, but for the group's count.
        used = said(folder, "cpu.stat", b"usage_usec ") / 1e6 or said(folder, "cpuacct.usage", b"") / 1e9
        report["cpu_s"] = max(report["cpu_s"], used)
        for _ in range(50):
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.002)  # the kernel takes a moment to forget the dead
                continue
            break


def said(folder: str, name: str, key: bytes) -> int:
    """The number behind `key` in a file of a group, 0 where there is none."""
    try:
        with open(f"{folder}/{name}", "rb") as stream:
            return next((int(line[len(key) :]) for line in stream if line.startswith(key)), 0)
    except (OSError, ValueError):
        return 0


def start(spec: dict[str, Any], libc: Any) -> int:
    """Fork, set limits, execute. The child's descriptors are closed here, so that its end shows as EOF."""
    above = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            for number in (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP, _signal.SIGPIPE):
                _signal.signal(number, _signal.SIG_DFL)
            for folder, _ in spec["groups"]:
                with open(f"{folder}/cgroup.procs", "w") as stream:
                    stream.write("0")
            if spec["bubble_status"] is None:
                os.setsid()
            else:
                libc.prctl(PDEATHSIG, _signal.SIGKILL, 0, 0, 0)
                with open(f"/proc/{above}/stat", "rb") as stream:  # in a namespace of ours getppid() says nothing
                    if stream.read().rpartition(b")")[2].split()[0] in (b"Z", b"X"):
                        os._exit(127)
                first(spec["close"])
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


def first(close: list[int]) -> None:
    """Fork once more: the child returns; the parent, first in its namespace, waits for all and takes their ends.

    bubblewrap doesn't wait for its inner process, whose use of the machine would be lost with the namespace.
    """
    child = os.fork()
    if child == 0:
        return
    for number in (0, 1, 2, *close):
        os.close(number)
    code = 127
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            os._exit(code)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            code = code if code >= 0 else 128 - code


def watch(spec: dict[str, Any], report: dict[str, Any], child: int, wake: int, began: float) -> None:
    """Wait for the command, the time limit, or the end of the runner."""
    poller = select.poll()
    poller.register(wake, select.POLLIN)
    poller.register(spec["life"], select.POLLIN)
    if spec["stop"] is not None:
        poller.register(spec["stop"], select.POLLIN)
    bubble = spec["bubble_status"]
    told = b""
    if bubble is not None:
        poller.register(bubble, select.POLLIN)
    deadline = began + spec["timeout_s"]
    look = began + LOOK_S if spec["watch"] else deadline
    waiting = True
    while waiting:
        now = time.monotonic()
        if now >= deadline:
            report["timed_out"] = True
            break
        if now >= look:
            report["stopped"] = outgrown(*spec["watch"])
            if report["stopped"]:
                break
            after = time.monotonic()
            look = after + max(LOOK_S, 20 * (after - now))  # a large tree costs a twentieth of a core
        for number, _ in poller.poll(int((min(deadline, look) - time.monotonic()) * 1000) + 1):
            if number == wake:
                signals = os.read(wake, 64)
                if any(sent != _signal.SIGCHLD for sent in signals) or reap(report, child, False):
                    waiting = False
            elif number in (spec["life"], spec["stop"]):
                waiting = False
            else:
                piece = os.read(bubble, 65536)
                told += piece
                if not piece:
                    poller.unregister(bubble)
                elif spec["block"] is not None and b'"child-pid"' in told:
                    report["processes"] = release(spec, child)
                    spec["block"] = None
    report["wall_s"] = time.monotonic() - began
    if bubble is None or report["code"] is None or report["code"] > 128:
        return
    while piece := os.read(bubble, 65536):
        told += piece
    if b'"exit-code"' not in told:  # bubblewrap gave up by itself, before the command was run
        report["error"] = "bubblewrap"


def outgrown(workspace: bytes, most_bytes: int, most_files: int) -> str | None:
    """Which limit a folder breaks, if any. Links aren't followed; what can't be looked into isn't counted."""
    files, used = 0, unlinked(os.stat(workspace).st_dev)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    handles = [opened(workspace, flags, None)]
    todo: list[list[Any] | None] = [None]  # for each open folder the names of those below it that are left
    try:
        while handles:
            names = todo[-1]
            if names is None:
                names = todo[-1] = []
                with os.scandir(handles[-1]) as found:
                    for entry in found:
                        files += 1
                        try:
                            used += entry.stat(follow_symlinks=False).st_blocks * 512
                            if entry.is_dir(follow_symlinks=False):
                                names.append(entry.name)
                        except OSError:
                            continue
                        if files > most_files:
                            return f"workspace_files: more than {most_files:,} files in the workspace"
            if used > most_bytes:
                return f"workspace_bytes: more than {most_bytes:,} bytes in the workspace"
            if not names:
                os.close(handles.pop())
                todo.pop()
                continue
            if len(handles) > MOST_DEEP:
                return f"workspace_files: folders in folders, more than {MOST_DEEP} deep"
            try:
                handles.append(opened(names.pop(), flags, handles[-1]))
                todo.append(None)
            except OSError:
                continue
    finally:
        for handle in handles:
            os.close(handle)
    return None


def unlinked(device: int) -> int:
    """Bytes of files on this device that have no name any more and that a process of ours still holds open."""
    sizes = {}
    for pid in descendants():
        try:
            for name in os.listdir(f"/proc/{pid}/fd"):
                found = os.stat(f"/proc/{pid}/fd/{name}")
                if found.st_nlink == 0 and found.st_dev == device:
                    sizes[found.st_ino] = found.st_blocks * 512
        except OSError:
            continue
    return sum(sizes.values())


def opened(name: bytes | str, flags: int, folder: int | None) -> int:
    """Open a folder; one that its owner, who we are, shut gets its permissions back: files could hide there."""
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY, dir_fd=folder)
        try:
            os.chmod(f"/proc/self/fd/{handle}", 0o700)
        finally:
            os.close(handle)
        return os.open(name, flags, dir_fd=folder)


def release(spec: dict[str, Any], child: int) -> str:
    """Bound the processes of the new user namespace, then let bubblewrap go on. Says what went wrong."""
    try:
        inner = [pid for bubble in children(child) for pid in children(bubble)]  # it says numbers of its own namespace
        for pid in inner:
            resource.prlimit(pid, resource.RLIMIT_NPROC, (spec["processes"], spec["processes"]))
        if not inner:
            return "the process to bound wasn't found"
        return ""
    except (OSError, ValueError) as error:
        return str(error)
    finally:
        os.write(spec["block"], b"x")
        os.close(spec["block"])


def children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as stream:
        return [int(word) for word in stream.read().split()]


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


def end(report: dict[str, Any], child: int, sweep: bool, groups: list[str]) -> None:
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
        for pid in members(groups) | (descendants() if sweep else set()):
            kill(pid)
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def kill(pid: int) -> None:
    try:  # noqa: SIM105  contextlib would have to be imported
        os.kill(pid, _signal.SIGKILL)
    except OSError:
        pass


def members(groups: list[str]) -> set[int]:
    """Every process in the control groups of this launch, which none can leave."""
    found: set[int] = set()
    for folder in groups:
        try:
            with open(f"{folder}/cgroup.procs") as stream:
                found.update(int(line) for line in stream)
        except (OSError, ValueError):
            continue
    return found


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
