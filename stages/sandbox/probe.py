"""Runs inside a sandbox and tries to get out; says on the result pipe what it managed.

Executed as a file by `python -I -S` with one argument, a JSON object: `canary` a file outside and what
`token` it holds, `port` a listener of the host, `pid_namespace` the host's, `hidden` paths of folders that
must not be seen, `sizes` the small limits that this launch was given. True in the answer means: held.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Any


def refused(action: Callable[[], Any]) -> bool:
    try:
        action()
    except (OSError, ValueError):
        return True
    return False


def unreadable(asked: dict[str, Any]) -> bool:
    try:
        with open(asked["canary"]) as stream:
            return asked["token"] not in stream.read()
    except OSError:
        return True


def no_route(asked: dict[str, Any]) -> bool:
    def connect() -> None:
        socket.create_connection(("127.0.0.1", asked["port"]), 1).close()

    with open("/proc/net/route") as stream:
        routes = stream.read().splitlines()[1:]
    interfaces = [name for _, name in socket.if_nameindex()]
    return refused(connect) and not routes and set(interfaces) <= {"lo"}


def invisible(asked: dict[str, Any]) -> bool:
    seen = [name for name in os.listdir("/proc") if name.isdigit()]
    return os.readlink("/proc/self/ns/pid") != asked["pid_namespace"] and len(seen) <= 3


def system_read_only(_: dict[str, Any]) -> bool:
    """No file of the system can be opened for writing, the kernel's switches included."""
    places = ["/usr/x", "/etc/passwd", "/x", "/dev/x", sys.prefix + "/x"]
    switches = ["/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory"]

    def opens(path: str) -> bool:
        return not refused(lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)))

    return not any(opens(path) for path in places + switches)


def folders_hidden(asked: dict[str, Any]) -> bool:
    return all(not os.path.lexists(path) for path in asked["hidden"])


def powerless(_: dict[str, Any]) -> bool:
    with open("/proc/self/status") as stream:
        fields = dict(line.split(":", 1) for line in stream if ":" in line)
    return int(fields["CapEff"], 16) == int(fields["CapBnd"], 16) == 0 and fields["NoNewPrivs"].strip() == "1"


def not_nested(_: dict[str, Any]) -> bool:
    return bool(ctypes.CDLL(None).unshare(0x10000000) != 0)


def filtered(_: dict[str, Any]) -> bool:
    """System calls and socket families that the filter refuses; each is one that the kernel would allow."""
    libc = ctypes.CDLL(None, use_errno=True)

    def denied(number: int, *args: int) -> bool:
        return libc.syscall(number, *args) == -1 and ctypes.get_errno() == errno.EPERM

    machine = os.uname().machine
    ptrace, keyctl = {"x86_64": (101, 250), "aarch64": (117, 219)}[machine]
    calls = denied(ptrace, 0, 0, 0, 0) and denied(keyctl, 0, -3, 0) and denied(425, 1, 0)
    return calls and all(refused(partial(socket.socket, family, socket.SOCK_DGRAM)) for family in (38, 40))


def memory_bytes(asked: dict[str, Any]) -> bool:
    """A child that takes more is killed, and this process, which is smaller, isn't."""
    child = os.fork()
    if child == 0:
        taken = bytearray(asked["sizes"]["memory_bytes"] * 2)
        taken[::4096] = b"x" * len(taken[::4096])
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9


def file_bytes(asked: dict[str, Any]) -> bool:
    """Also leaves room for the next test."""
    path = os.path.join(os.environ["TMPDIR"], "big")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        return refused(
            lambda: [os.write(handle, b"x" * 65536) for _ in range(asked["sizes"]["file_bytes"] // 65536 + 1)]
        )
    finally:
        os.close(handle)
        os.unlink(path)


def tmp_bytes(asked: dict[str, Any]) -> bool:
    def fill() -> None:
        for number in range(asked["sizes"]["tmp_bytes"] // 65536 + 1):
            with open(os.path.join(os.environ["TMPDIR"], f"fill{number}"), "wb") as stream:
                stream.write(b"x" * 65536)

    return refused(fill)


def open_files(asked: dict[str, Any]) -> bool:
    held: list[int] = []
    try:
        return refused(lambda: held.extend(os.dup(0) for _ in range(asked["sizes"]["open_files"] + 2)))
    finally:
        for handle in held:
            os.close(handle)


def processes(asked: dict[str, Any]) -> bool:
    children = []
    wait, go = os.pipe()
    try:
        for _ in range(asked["sizes"]["processes"] + 8):
            child = os.fork()
            if child == 0:
                os.close(go)
                os.read(wait, 1)
                os._exit(0)
            children.append(child)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(go)
        for child in children:
            os.waitpid(child, 0)
    return False


def main() -> None:
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    asked = json.loads(sys.argv[1])
    held: dict[str, bool | str] = {}
    tests = (unreadable, no_route, invisible, system_read_only, folders_hidden, powerless, not_nested)
    for test in (*tests, filtered, open_files, processes, file_bytes, tmp_bytes, memory_bytes):
        try:
            held[test.__name__] = bool(test(asked))
        except Exception as error:
            held[test.__name__] = f"could not be tried: {type(error).__name__}: {error}"
    with os.fdopen(int(os.environ["WEIGHBRIDGE_RESULT_FD"]), "w") as stream:
        json.dump(held, stream)


main()
