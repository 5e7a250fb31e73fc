"""What an agent in the sandbox tries, and that it fails."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from stages.contract.errors import UsageError
from stages.sandbox import FORCE, Isolation, bubble, find, run, tiers
from tests.support.others import others_may_read

# Each is the body of `attempt()`, which must raise or return a false value. OUTSIDE, HOME_FILE, PROJECT, PORT, UNIX,
# ABSTRACT and HOST_PID come from the host.
ATTEMPTS = {
    "read_a_file_outside": "return open(OUTSIDE).read()",
    "read_through_the_root_of_another_process": "return open('/proc/1/root' + OUTSIDE).read()",
    "read_through_a_working_directory": "return os.listdir(f'/proc/{HOST_PID}/cwd')",
    "read_through_a_link": "os.symlink(OUTSIDE, 'link'); return open('link').read()",
    "read_through_a_hard_link": "os.link(OUTSIDE, 'hard'); return open('hard').read()",
    "read_home": "return open(HOME_FILE).read()",
    "read_the_project": "return os.listdir(PROJECT + '/stages')",
    "read_the_passwords": "return [line for line in open('/etc/passwd') if not line.startswith('agent:')]",
    "write_the_system": "return open('/usr/bin/evil', 'w')",
    "write_the_interpreter": "return open(os.path.join(sys.prefix, 'evil.py'), 'w')",
    "write_the_root": "return open('/evil', 'w')",
    "write_kernel_switches": "return os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)",
    "press_sysrq": "return os.open('/proc/sysrq-trigger', os.O_WRONLY)",
    "signal_a_host_process": "os.kill(HOST_PID, 0); return HOST_PID > 20",
    "see_host_processes": "return len([n for n in os.listdir('/proc') if n.isdigit()]) > 3",
    "connect_to_the_host": "return socket.create_connection(('127.0.0.1', PORT), 1)",
    "connect_to_the_world": "return socket.create_connection(('192.0.2.1', 80), 1)",
    "resolve_a_name": "return socket.getaddrinfo('example.org', 80)",
    "connect_by_path": "s = socket.socket(socket.AF_UNIX); s.connect(UNIX); return s",
    "connect_by_abstract_name": "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + ABSTRACT); return s",
    "nest_a_user_namespace": "import ctypes; return ctypes.CDLL(None).unshare(0x10000000) == 0",
    "mount": "import ctypes; return ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0",
    "change_root": "os.chroot('/tmp'); return True",
    "become_root": "os.setuid(0); return True",
    "make_a_device": "os.mknod('disk', 0o60666, os.makedev(254, 0)); return open('disk', 'rb')",
    "use_a_setuid_program": "return subprocess.run(['/bin/su', '-c', 'true'], stdin=-3, capture_output=True).returncode == 0",
    "read_the_kernels_memory": "return open('/proc/kcore', 'rb').read(1)",
    "push_input_to_the_terminal": "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'x'); return True",
}


@pytest.fixture(scope="module")
def answers(namespaces: Isolation, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What every attempt came to, all tried in one sandbox."""
    folder = tmp_path_factory.mktemp("host")
    outside, workspace = folder / "outside", folder / "workspace"
    outside.write_text("secret")
    outside.chmod(0o644)
    workspace.mkdir()
    home = Path("~").expanduser()
    names = [name for name in sorted(os.listdir(home)) if (home / name).is_file()] if home.is_dir() else []
    abstract = f"wb-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_UNIX) as by_path,
        socket.socket(socket.AF_UNIX) as by_name,
    ):
        by_path.bind(str(folder / "socket"))
        by_name.bind("\0" + abstract)
        by_path.listen()
        by_name.listen()
        given = {
            "OUTSIDE": str(outside),
            "HOME_FILE": str(home / (names[0] if names else "none")),
            "PROJECT": str(Path(__file__).parents[2]),
            "PORT": listener.getsockname()[1],
            "UNIX": str(folder / "socket"),
            "ABSTRACT": abstract,
            "HOST_PID": os.getpid(),
        }
        code = ["import json, os, socket, subprocess, sys", f"globals().update(json.loads({json.dumps(given)!r}))"]
        for name, body in ATTEMPTS.items():
            code.append(f"def {name}():\n    " + body.replace("; ", "\n    "))
        code.append(
            f"answers = {{}}\nfor name in {list(ATTEMPTS)!r}:\n"
            "    try:\n        got = globals()[name]()\n        answers[name] = '' if not got else f'managed: {got!r}'\n"
            "    except Exception as error:\n        answers[name] = ''\n"
            "os.write(int(os.environ['WEIGHBRIDGE_RESULT_FD']), json.dumps(answers).encode())"
        )
        done = run(
            ["python3", "-I", "-S", "-c", "\n".join(code)],
            isolation=namespaces,
            workspace=workspace,
            env={},
            timeout_s=30,
            result_fd=True,
        )
    assert done.exit_code == 0, done.stderr
    return dict(json.loads(done.result))


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_an_attempt_to_get_out_fails(answers: dict[str, str], attempt: str) -> None:
    assert answers[attempt] == ""


def test_the_same_attempts_do_succeed_without_isolation(tmp_path: Path) -> None:
    """Else the test above would pass with attempts that can't work anywhere."""
    (tmp_path / "outside").write_text("secret")
    (tmp_path / "workspace").mkdir()
    done = run(
        ["cat", str(tmp_path / "outside")],
        isolation=Isolation("none"),
        workspace=tmp_path / "workspace",
        env={},
        timeout_s=5,
    )
    assert done.stdout == b"secret"


def test_the_self_test_says_what_holds(namespaces: Isolation) -> None:
    assert all(namespaces.enforced[name] is True for name in tiers.PROMISED)
    assert namespaces.enforced["tmp_bytes"] is True
    assert namespaces.enforced["processes"] is True or os.geteuid() == 0


@pytest.mark.usefixtures("namespaces")
def test_the_self_test_sees_a_sandbox_that_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wider sandbox, made with the host's root and network, isn't taken for tier `namespaces`."""
    true = bubble.options

    def wide(**given: object) -> list[str]:
        kept = true(**given)  # type: ignore[arg-type]
        return [*kept, "--share-net", "--ro-bind", "/tmp", "/tmp"]

    monkeypatch.setattr(bubble, "options", wide)
    found = tiers._test()
    assert found.tier == "none"
    assert "unreadable" in found.why
    assert "no_route" in found.why


@pytest.mark.usefixtures("namespaces")
def test_a_project_below_a_system_folder_is_covered(tmp_path: Path) -> None:
    below = next((path for path in map(Path, ("/usr/share/doc", "/usr/share", "/usr/lib")) if path.is_dir()), None)
    assert below is not None
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom stages.sandbox import find, run\n"
        f"done = run(['ls', {str(below)!r}], isolation=find('namespaces'), workspace=Path({str(tmp_path)!r}), env={{}}, timeout_s=9)\n"
        "print(done.exit_code, done.stdout)"
    )
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], cwd=below, env=env, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "0 b''", done.stderr


def test_the_environment_can_force_no_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORCE, "none")
    found = find("auto")
    assert found.tier == "none"
    assert FORCE in found.why


def test_namespaces_asked_for_and_not_had_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FORCE, raising=False)
    monkeypatch.setattr(tiers, "_found", {"namespaces": Isolation("none", why="refused")})
    with pytest.raises(UsageError, match="refused"):
        find("namespaces")
    assert find("auto").why == "refused"


def test_an_ordinary_user_gets_namespaces_and_a_bound_on_processes(namespaces: Isolation) -> None:
    if os.geteuid() != 0:
        assert namespaces.enforced["processes"] is True
        return
    if not others_may_read(Path(__file__).parent) or not os.path.exists("/usr/bin/python3"):
        pytest.skip("this checkout lies where an ordinary user can't read it, or there is no system interpreter")
    import rfc8785

    libraries = str(Path(rfc8785.__file__).parents[1])
    code = (
        "import os, sys\nos.setgid(54321)\nos.setuid(54321)\nos.environ['HOME'] = '/'\n"
        f"sys.path[:0] = [{str(Path(__file__).parents[2])!r}, {libraries!r}]\n"
        "from stages.sandbox import find\nfound = find()\nprint(found.tier, found.enforced.get('processes'), found.why)"
    )
    done = subprocess.run(["/usr/bin/python3", "-c", code], cwd="/", capture_output=True, text=True, check=False)
    if "user namespace" in done.stdout or "Operation not permitted" in done.stdout:
        pytest.skip(f"ordinary users get none here: {done.stdout}")
    assert done.stdout.split()[:2] == ["namespaces", "True"], done.stdout + done.stderr


def test_an_interpreter_below_home_and_the_temporary_folder_is_found_inside() -> None:
    """Where most people's environments lie: both folders are covered up, and the interpreter stands above the cover."""
    if find().tier == "none":
        pytest.skip(f"no namespaces here: {find().why}")
    home = Path(tempfile.mkdtemp())
    try:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "project/.venv"], check=True)
        site = next((home / "project/.venv/lib").glob("python*/site-packages"))
        packages = [path for path in sys.path if path.endswith("site-packages")]
        (site / "ours.pth").write_text("\n".join([*packages, str(Path(__file__).parents[2])]) + "\n")
        done = subprocess.run(
            [home / "project/.venv/bin/python", "-m", "stages", "doctor", "--json"],
            cwd=home / "project",
            env={**os.environ, "HOME": str(home)},
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout)
        assert found["isolation"] == "namespaces", found["why"]
        assert found["enforced"]["folders_hidden"] is True
    finally:
        shutil.rmtree(home)
