"""A launch is bounded in time and output, and leaves no process behind."""

from __future__ import annotations

import gc
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from stages.contract.errors import UsageError
from stages.sandbox import Isolation, Limits, Outcome, run


def python(isolation: Isolation, workspace: Path, code: str, **more: Any) -> Outcome:
    given = {"env": {}, "timeout_s": 20.0} | more
    return run(["python3", "-I", "-S", "-c", code], isolation=isolation, workspace=workspace, **given)


def alive(mark: str) -> list[str]:
    """Process ids whose command line holds `mark`."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark.encode() in Path("/proc", name, "cmdline").read_bytes():
                found.append(name)
        except OSError:
            continue
    return found


def test_exit_codes_and_signals_follow_the_shell(isolation: Isolation, workspace: Path) -> None:
    assert python(isolation, workspace, "raise SystemExit(3)").exit_code == 3
    killed = python(isolation, workspace, "import os; os.kill(os.getpid(), 9)")
    assert (killed.exit_code, killed.signal) == (137, 9)


def test_a_missing_program_is_the_commands_fault_and_not_the_sandboxs(isolation: Isolation, workspace: Path) -> None:
    done = run(["no-such-program"], isolation=isolation, workspace=workspace, env={}, timeout_s=5)
    assert (done.exit_code, done.launch_failed) == (127, None)


def test_a_sandbox_that_cannot_be_made_is_told_apart(namespaces: Isolation, workspace: Path) -> None:
    missing = [(Path("/no/such/path"), "/x")]
    done = run(["true"], isolation=namespaces, workspace=workspace, read_only=missing, env={}, timeout_s=5)
    assert "no/such/path" in str(done.launch_failed)


def test_stdin_environment_and_result_pipe_reach_the_command(isolation: Isolation, workspace: Path) -> None:
    code = (
        "import json, os, sys\n"
        "with os.fdopen(int(os.environ['WEIGHBRIDGE_RESULT_FD']), 'w') as stream:\n"
        "    json.dump([len(sys.stdin.buffer.read()), dict(os.environ), os.getcwd(), os.listdir(os.environ['HOME'])], stream)"
    )
    os.environ["SECRET_OF_THE_RUNNER"] = "x"
    try:
        done = python(isolation, workspace, code, stdin=b"x" * 300_000, env={"GIVEN": "é"}, result_fd=True)
    finally:
        del os.environ["SECRET_OF_THE_RUNNER"]
    size, env, cwd, home = json.loads(done.result)
    assert (size, cwd, home) == (300_000, done.workspace, [])
    assert env.pop("LC_CTYPE", "C.UTF-8") == "C.UTF-8"  # set by Python itself
    env.pop("PWD", None)  # set by bubblewrap
    assert set(env) == {"GIVEN", "HOME", "LANG", "PATH", "TMPDIR", "TZ", "WEIGHBRIDGE_RESULT_FD"}
    assert env["GIVEN"] == "é"


def test_words_with_nul_never_reach_a_program(isolation: Isolation, workspace: Path) -> None:
    for env in ({"A": "x\0--share-net"}, {"A=B": "x"}):
        with pytest.raises(UsageError):
            run(["true"], isolation=isolation, workspace=workspace, env=env, timeout_s=5)


def test_output_is_drained_and_capped(isolation: Isolation, workspace: Path) -> None:
    code = "import os\nfor n in range(300): os.write(1, b'x' * 100_000); os.write(2, b'y' * 1000)"
    done = python(isolation, workspace, code)
    assert (len(done.stdout), done.stdout_total) == (1_000_000, 30_000_000)
    assert (len(done.stderr), done.stderr_total, done.exit_code) == (300_000, 300_000, 0)


def test_the_time_limit_ends_the_whole_tree(isolation: Isolation, workspace: Path) -> None:
    mark = secrets.token_hex(8)
    code = (
        "import subprocess, sys, time\n"
        "for detached in (False, True):\n"
        f"    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', '{mark}'], start_new_session=detached)\n"
        "time.sleep(60)"
    )
    began = time.monotonic()
    done = python(isolation, workspace, code, timeout_s=1.0)
    assert time.monotonic() - began < 10
    assert (done.timed_out, done.exit_code, done.leftover) == (True, None, 0)
    assert alive(mark) == []


def test_a_daemon_does_not_outlive_its_command(isolation: Isolation, workspace: Path) -> None:
    """A double fork with its own session, its descriptors closed or held open, signals ignored."""
    mark = secrets.token_hex(8)
    code = f"""
import os, signal, sys, time
for keep in (True, False):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, 65):
                if number not in (9, 19, 32, 33):
                    signal.signal(number, signal.SIG_IGN)
            if not keep:
                os.closerange(0, 64)
            os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", "{mark}"])
        os._exit(0)
    os.wait()
time.sleep(0.2)
"""
    began = time.monotonic()
    done = python(isolation, workspace, code)
    assert (done.exit_code, done.timed_out, done.leftover) == (0, False, 0), done.stderr
    assert time.monotonic() - began < 10
    assert alive(mark) == []


def test_the_death_of_the_runner_ends_the_trial(isolation: Isolation, workspace: Path) -> None:
    mark = secrets.token_hex(8)
    code = f"""
import sys
from pathlib import Path
from stages.sandbox import Isolation, run
run(["sh", "-c", "sleep 61 & setsid sleep 62 & exec python3 -c 'import time; time.sleep(60)' {mark}"],
    isolation=Isolation({isolation.tier!r}, bwrap={isolation.bwrap!r}), workspace=Path({str(workspace)!r}), env={{}}, timeout_s=60)
"""
    runner = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    until = time.monotonic() + 20
    while len(alive(f"-c\0import time; time.sleep(60)\0{mark}")) < 1 and time.monotonic() < until:
        time.sleep(0.05)
    assert runner.poll() is None
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    until = time.monotonic() + 10
    while alive(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert alive(mark) == []


def test_resources_of_the_whole_tree_are_counted(isolation: Isolation, workspace: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "burn = 'x = bytearray(80 << 20)\\nimport time\\nwhile time.process_time() < 0.4: pass'\n"
        "subprocess.run([sys.executable, '-I', '-S', '-c', burn])"
    )
    done = python(isolation, workspace, code)
    assert 0.4 <= done.cpu_s < 2
    assert done.wall_s >= done.cpu_s / 2
    assert done.max_rss_kb > 80 << 10


def test_what_a_command_used_until_the_time_limit_is_counted(namespaces: Isolation, workspace: Path) -> None:
    if not any("cpuacct" in group.controllers or group.version == 2 for group in namespaces.groups):
        pytest.skip("no control group that counts can be made here")
    done = python(namespaces, workspace, "import os\nos.fork()\nwhile True: pass", timeout_s=1.5)
    assert done.timed_out
    assert 0.1 < done.cpu_s < 5


def test_many_threads_can_launch_at_once(isolation: Isolation, workspace: Path) -> None:
    def one(number: int) -> bytes:
        return python(isolation, workspace, "import sys; print(sys.stdin.read())", stdin=b"%d" % number).stdout

    gc.collect()  # a descriptor that an earlier test left to the collector isn't ours to count
    before, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(one, range(24))) == [b"%d\n" % number for number in range(24)]
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before
    assert threading.active_count() <= threads


def test_a_file_cannot_grow_beyond_its_limit(isolation: Isolation, workspace: Path) -> None:
    code = "stream = open('big', 'wb')\nwhile True: stream.write(b'x' * 65536)"
    done = python(isolation, workspace, code, limits=Limits(file_bytes=1 << 20))
    assert done.exit_code not in (0, None)
    assert (workspace / "big").stat().st_size <= 1 << 20


def test_a_workspace_can_be_read_only(namespaces: Isolation, workspace: Path) -> None:
    code = "open('x', 'w')"
    assert python(namespaces, workspace, code).exit_code == 0
    (workspace / "x").unlink()
    done = python(namespaces, workspace, code, workspace_writable=False)
    assert done.exit_code == 1
    assert b"Read-only" in done.stderr


def test_the_command_cannot_read_host_paths_from_its_first_process(namespaces: Isolation, workspace: Path) -> None:
    code = (
        "import os\n"
        "for name in ('cmdline', 'environ', 'mountinfo'): print(open(f'/proc/1/{name}').read())\n"
        "for name in os.listdir('/proc/1/fd'): print(os.readlink(f'/proc/1/fd/{name}'))"
    )
    done = python(namespaces, workspace, code, env={"A": "given"})
    assert done.exit_code == 0, done.stderr
    told = done.stdout.decode().replace(str(Path(sys.prefix)), "").replace(str(namespaces.bwrap), "")
    mounted = next(line for line in told.splitlines() if " /ws " in line).split()[3]
    assert str(workspace) not in told.replace(mounted, "")
    assert "given" not in told.split("\0")


def test_a_channel_reaches_the_command_and_is_closed_when_it_ends(isolation: Isolation, workspace: Path) -> None:
    import socket

    here, there = socket.socketpair()
    code = (
        "import os, socket\n"
        "channel = socket.socket(fileno=int(os.environ['WEIGHBRIDGE_CHANNEL_FD']))\n"
        "channel.sendall(channel.recv(100) + b' back')\n"
    )
    here.sendall(b"there and")
    done = python(isolation, workspace, code, channel=there.detach())
    assert done.exit_code == 0
    assert (here.recv(100), here.recv(100)) == (b"there and back", b"")
    here.close()


def test_a_launch_ends_early_when_it_is_told_so_from_another_thread(isolation: Isolation, workspace: Path) -> None:
    stop, stopper = os.pipe()
    timer = threading.Timer(0.7, os.close, [stopper])
    timer.start()
    done = python(isolation, workspace, "import time; time.sleep(60)", stop=stop, timeout_s=50.0)
    timer.join()
    assert (done.exit_code, done.timed_out, done.launch_failed) == (137, False, None)
    assert 0.5 < done.wall_s < 15
