"""What a launch may use is bounded where this machine can bound it, and what isn't is said."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from stages.contract.errors import UsageError
from stages.sandbox import Isolation, Limits, groups, run, seccomp
from stages.sandbox.groups import Group

from .test_launch import alive, python


def held(isolation: Isolation, name: str) -> None:
    if isolation.enforced[name] is not True:
        pytest.skip(f"{name} isn't held on this machine: {isolation.enforced[name]}")


def test_a_fork_loop_ends_at_its_bound(namespaces: Isolation, workspace: Path) -> None:
    held(namespaces, "processes")
    code = (
        "import os, time\nmade = 0\nwhile True:\n    try:\n        child = os.fork()\n"
        "    except OSError as error:\n        print(made, error.errno)\n        break\n"
        "    if not child:\n        time.sleep(30)\n        os._exit(0)\n    made += 1"
    )
    done = python(namespaces, workspace, code, limits=Limits(processes=200))
    made, error = map(int, done.stdout.split())
    assert error == 11  # EAGAIN
    assert 150 <= made < 200
    assert (done.leftover, done.limits["processes"]) == (0, True)


def test_memory_of_all_processes_together_is_bounded(namespaces: Isolation, workspace: Path) -> None:
    held(namespaces, "memory_bytes")
    code = (
        "import os\nchildren = []\nfor _ in range(4):\n    ready, tell = os.pipe()\n    child = os.fork()\n"
        "    if not child:\n        taken = bytearray(40 << 20)\n        taken[::4096] = b'x' * len(taken[::4096])\n"
        "        os.write(tell, b'x')\n        import time\n        time.sleep(30)\n"
        "    os.close(tell)\n    children.append((child, os.read(ready, 1)))\n"
        "print(len(children))"
    )
    done = python(namespaces, workspace, code, limits=Limits(memory_bytes=100 << 20))
    assert done.oom_kills >= 1  # four times 40 MiB have no room, one has
    assert done.limits["memory"] is True


def test_files_in_memory_count_as_memory(namespaces: Isolation, workspace: Path) -> None:
    held(namespaces, "memory_bytes")
    code = "open('/tmp/x', 'wb').write(b'x' * (150 << 20))"
    done = python(namespaces, workspace, code, limits=Limits(memory_bytes=100 << 20))
    assert done.exit_code != 0


@pytest.mark.parametrize(
    ("code", "limits", "named"),
    [
        (
            "n = 0\nwhile True:\n    open(str(n), 'wb').write(b'x' * (1 << 20))\n    n += 1\n    time.sleep(0.005)",
            Limits(workspace_bytes=50 << 20),
            "workspace_bytes",
        ),
        (
            "held = []\nfor n in range(60):\n    held.append(open(str(n), 'wb'))\n    os.unlink(str(n))\n"
            "    held[-1].write(b'x' * (1 << 20))\n    held[-1].flush()\ntime.sleep(30)",
            Limits(workspace_bytes=20 << 20),
            "workspace_bytes",
        ),
        (
            "for n in range(3000): open(str(n), 'w')\ntime.sleep(30)",
            Limits(workspace_files=2000),
            "workspace_files",
        ),
        (
            "for n in range(400):\n    os.mkdir('d')\n    os.chdir('d')\ntime.sleep(30)",
            Limits(),
            "deep",
        ),
    ],
)
def test_a_workspace_that_outgrows_its_limit_ends_the_command(
    isolation: Isolation, workspace: Path, code: str, limits: Limits, named: str
) -> None:
    began = time.monotonic()
    done = python(isolation, workspace, f"import os, time\n{code}", limits=limits, timeout_s=25)
    assert named in str(done.stopped)
    assert (done.timed_out, done.leftover) == (False, 0)
    assert time.monotonic() - began < 15


def test_no_control_group_is_left_behind_nor_seen_inside(namespaces: Isolation, workspace: Path) -> None:
    done = python(namespaces, workspace, "print(open('/proc/self/cgroup').read())")
    assert groups.PREFIX.encode() not in done.stdout
    for group in namespaces.groups:
        assert not list(Path(group.folder).glob(f"{groups.PREFIX}{os.getpid()}-*"))


def test_groups_of_a_process_that_is_gone_are_swept_up(namespaces: Isolation) -> None:
    if not namespaces.groups:
        pytest.skip("no control group can be made here")
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = Path(namespaces.groups[0].folder, f"{groups.PREFIX}{gone.pid}-0")
    left.mkdir()
    groups.find()
    assert not left.exists()


def test_a_group_that_cannot_be_made_is_no_fault_of_the_command(namespaces: Isolation, workspace: Path) -> None:
    wrong = Isolation("namespaces", bwrap=namespaces.bwrap, groups=(Group(2, "/proc", ("memory",)),))
    done = python(wrong, workspace, "pass")
    assert "/proc/weighbridge-" in str(done.launch_failed)


def test_groups_are_looked_for_where_the_process_is_and_above(tmp_path: Path) -> None:
    """A tree that looks like version 2 with a delegated parent; no kernel behind it, so nothing can be made."""
    mounts = f"30 20 0:26 / {tmp_path} rw - cgroup2 cgroup2 rw\n31 20 0:27 / /x rw shared:5 - tmpfs tmpfs rw\n"
    found = list(groups._candidates(mounts, "0::/user.slice/app.slice/a.scope\n"))
    scope = tmp_path / "user.slice/app.slice/a.scope"
    assert [folder for _, folder, _ in found] == [scope, scope.parent]
    assert {version for version, _, _ in found} == {2}
    scope.mkdir(parents=True)
    assert groups.find(mounts, "0::/user.slice/app.slice/a.scope\n") == ()
    assert not list(scope.iterdir())
    assert groups.find("", "") == ()


def verdict(program: bytes, machine_arch: int, number: int, first: int) -> int:
    """A classic BPF interpreter, of the four instructions that a filter like ours is made of."""
    data = struct.pack("<IIQ6Q", number, machine_arch, 0, first, 0, 0, 0, 0, 0)
    steps = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    at, held_ = 0, 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        if code == 0x20:
            held_ = struct.unpack_from("<I", data, value)[0]
        elif code == 0x15:
            at += then if held_ == value else otherwise
        elif code == 0x35:
            at += then if held_ >= value else otherwise
        elif code == 0x06:
            return int(value)
        else:
            raise AssertionError(f"unknown instruction {code:#x}")


ALLOW, EPERM, ENOSYS, NO_FAMILY = 0x7FFF0000, 0x00050001, 0x00050026, 0x00050061


@pytest.mark.parametrize(
    ("machine", "arch", "numbers"),
    [  # read, socket, ptrace, keyctl, bpf, execve
        ("x86_64", 0xC000003E, (0, 41, 101, 250, 321, 59)),
        ("aarch64", 0xC00000B7, (63, 198, 117, 219, 280, 221)),
    ],
)
def test_the_filter_refuses_what_it_names_and_nothing_else(machine: str, arch: int, numbers: tuple[int, ...]) -> None:
    program = seccomp.program(machine)
    assert program is not None
    read, socket_, ptrace, keyctl, bpf, execve = numbers
    assert [verdict(program, arch, n, 0) for n in (read, execve)] == [ALLOW, ALLOW]
    assert [verdict(program, arch, n, 0) for n in (ptrace, keyctl, bpf, 425, 426, 427, 438)] == [EPERM] * 7
    assert [verdict(program, arch, socket_, family) for family in (1, 2, 10, 16)] == [ALLOW] * 4
    assert [verdict(program, arch, socket_, family) for family in (0, 3, 17, 38, 40, 44)] == [NO_FAMILY] * 6
    assert verdict(program, 0x40000003, read, 0) == ENOSYS  # 32-bit calls on a 64-bit kernel
    assert verdict(program, arch, read | 0x40000000, 0) == ENOSYS
    refused = [n for n in range(500) if verdict(program, arch, n, 1) != ALLOW]
    assert len(refused) == 16


def test_a_machine_whose_calls_are_not_known_has_no_filter() -> None:
    assert seccomp.program("riscv64") is None


def test_the_kernel_takes_the_filter_and_says_so(namespaces: Isolation, workspace: Path) -> None:
    if namespaces.enforced["filtered"] is not True:
        pytest.skip(str(namespaces.enforced["filtered"]))
    code = (
        "print(next(line for line in open('/proc/self/status') if line.startswith('Seccomp:')))\n"
        "import socket\nfor family in (17, 38, 40):\n"
        "    try:\n        socket.socket(family, socket.SOCK_DGRAM)\n        print('made', family)\n"
        "    except OSError as error:\n        print(error.errno)"
    )
    assert python(namespaces, workspace, code).stdout.split() == [b"Seccomp:", b"2", b"97", b"97", b"97"]


@pytest.mark.parametrize(
    "delay_ms", [0, 8, 16, 24, *(pytest.param(n, marks=pytest.mark.heavy) for n in range(1, 60) if n % 8)]
)
def test_a_runner_that_is_killed_while_it_launches_leaves_nothing(
    namespaces: Isolation, workspace: Path, delay_ms: int
) -> None:
    """Runner and supervisor die at once, bubblewrap doesn't, at some point between the fork and the agent."""
    mark = f"wbmark{os.getpid()}x{delay_ms}"
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom stages.sandbox import Isolation, run\n"
        "print('ready', flush=True)\nsys.stdin.readline()\n"
        f"run(['sh', '-c', 'exec sleep 60', {mark!r}], isolation=Isolation('namespaces', bwrap={namespaces.bwrap!r}),"
        f" workspace=Path({str(workspace)!r}), env={{'MARK': {mark!r}}}, timeout_s=60)"
    )
    runner = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert runner.stdin is not None
    assert runner.stdout is not None
    runner.stdout.readline()
    runner.stdin.write("go\n")
    runner.stdin.flush()
    time.sleep(delay_ms / 1000)
    for child in Path(f"/proc/{runner.pid}/task/{runner.pid}/children").read_text().split():
        os.kill(int(child), 9)
    runner.kill()
    runner.wait()
    until = time.monotonic() + 10
    while alive(mark) and time.monotonic() < until:
        time.sleep(0.02)
    assert alive(mark) == []


def test_the_only_way_out_is_the_socket_that_was_asked_for(namespaces: Isolation, workspace: Path) -> None:
    served: list[bytes] = []

    def serve(listener: socket.socket) -> None:
        def answer() -> None:
            with listener:
                connection, _ = listener.accept()
                with connection:
                    served.append(connection.recv(100))
                    connection.sendall(b"recorded")

        threading.Thread(target=answer, daemon=True).start()

    code = (
        "import os, socket\nwith socket.create_connection(('127.0.0.1', 8787)) as call:\n"
        "    call.sendall(b'ask')\n    print(call.recv(100))\n"
        "for where in (('127.0.0.1', 22), ('192.0.2.1', 80)):\n"
        "    try:\n        socket.create_connection(where, 1)\n        print('reached')\n"
        "    except OSError:\n        print('refused')\n"
        "print([os.readlink(f'/proc/self/fd/{n}') for n in ('3', '4', '5', '6') if os.path.lexists(f'/proc/self/fd/{n}')])"
    )
    done = python(namespaces, workspace, code, serve=serve)
    assert done.stdout.splitlines()[:3] == [b"b'recorded'", b"refused", b"refused"], done.stderr
    assert b"socket" not in done.stdout.splitlines()[3]  # the channel isn't inherited
    assert served == [b"ask"]
    assert threading.active_count() == 1 or not any(t.name == "doorway" for t in threading.enumerate())


def test_a_sandbox_that_fails_or_ends_early_closes_its_doorway(namespaces: Isolation, workspace: Path) -> None:
    def never(_: socket.socket) -> None:
        raise AssertionError("there was no sandbox")

    missing = [(Path("/no/such/path"), "/x")]
    done = run(["true"], isolation=namespaces, workspace=workspace, read_only=missing, env={}, timeout_s=5, serve=never)
    assert done.launch_failed
    with pytest.raises(UsageError):
        run(["\0"], isolation=namespaces, workspace=workspace, env={}, timeout_s=5, serve=never)
    assert not any(thread.name == "doorway" for thread in threading.enumerate())
