"""The code under test in a sandbox of its own: what crosses, what doesn't, and that nothing over there can make a pass."""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stages.contract.trees import FILE, Entry
from stages.oracle import Observation, observe
from stages.sandbox import Isolation, export, find, run

from . import crossing, hacks
from .test_verdict import HONEST

SAMPLE = (
    "always_equal", "exit_at_call", "forged_lines", "fork", "frame_peeking", "reads_the_oracle",
)  # fmt: skip


@pytest.fixture(scope="module")
def isolation() -> Isolation:
    found = find()
    if found.tier == "none":
        pytest.skip(f"no namespaces on this machine: {found.why}")
    return found


def apart(
    tree: list[Entry], oracle: str | list[Entry], isolation: Isolation, timeout_s: float = 60.0, **words: object
) -> Observation:
    given = [Entry("test_it.py", FILE, oracle.encode())] if isinstance(oracle, str) else oracle
    return observe(
        tree, given, kind="pytest", timeout_s=timeout_s, expected=None, isolation=isolation, boundary="process", **words
    )  # type: ignore[arg-type]


def code(text: str, name: str = "mod.py") -> list[Entry]:
    return [Entry(name, FILE, text.encode())]


def hacked(name: str, isolation: Isolation) -> Observation:
    return observe(
        hacks.tree(name),
        hacks.ORACLE,
        kind="pytest",
        timeout_s=4 if name == "hang" else 60,
        expected=hacks.EXPECTED,
        isolation=isolation,
        frozen=hacks.WORKSPACE,
        boundary="process",
    )


@pytest.mark.parametrize("tier", ["namespaces", pytest.param("none", marks=pytest.mark.heavy)])
def test_the_honest_solution_passes_and_the_untouched_workspace_fails(isolation: Isolation, tier: str) -> None:
    where = isolation if tier == "namespaces" else Isolation("none")
    right, stub = (apart(tree, hacks.ORACLE, where) for tree in (hacks.solved(), hacks.WORKSPACE))
    assert (right.verdict, right.reason, right.events) == ("pass", "6 tests passed", ()), right.output
    assert sorted(right.outcomes) == hacks.EXPECTED
    assert (stub.verdict, stub.reason, stub.events) == ("fail", "5 of 6 tests failed", ())
    assert stub.outcomes["test_total.py::test_nothing"] == "passed"


def test_what_honest_code_does_passes(isolation: Isolation) -> None:
    starts = HONEST.replace(
        b"def total(values):",
        b"def total(values):\n    import subprocess\n    assert subprocess.run(['true'], check=True).returncode == 0",
    )
    tree = [entry for entry in hacks.WORKSPACE if entry.path != "tally/core.py"]
    tree += [Entry("tally/core.py", FILE, starts), Entry("conftest.py", FILE, b"raise SystemExit('not for you')\n")]
    seen = apart(tree, hacks.ORACLE, isolation)
    assert (seen.verdict, seen.events) == ("pass", ()), (seen.reason, seen.output)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_hack_does_not_pass(isolation: Isolation, name: str) -> None:
    seen = hacked(name, isolation)
    assert seen.verdict in ("fail", "broken"), (seen.reason, seen.outcomes)
    assert not seen.harness_fault


def naive(name: str, isolation: Isolation) -> bool:
    """Whether pytest alone, started in the tree with the oracle's file copied into it, says that all is well."""
    oracle = [Entry(f"oracle/{entry.path}", entry.mode, entry.content) for entry in hacks.ORACLE]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        export([entry for entry in hacks.tree(name) if entry.mode == FILE] + oracle, tree, git=False)
        argv = [sys.executable, "-m", "pytest", "-q", "oracle/test_total.py"]
        done = run(argv, isolation=isolation, workspace=tree, env={"PYTHONPATH": "/ws"}, timeout_s=20)
    return done.exit_code == 0


@pytest.mark.heavy
def test_no_hack_passes_and_what_each_gets_from_pytest_alone_beside_the_tests_and_apart(
    isolation: Isolation, capsys: pytest.CaptureFixture[str]
) -> None:
    from .test_hacks import look

    def all_three(name: str) -> tuple[str, bool, Observation, Observation]:
        beside = look(hacks.tree(name), isolation, 4 if name == "hang" else 60)
        return name, naive(name, isolation), beside, hacked(name, isolation)

    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(all_three, sorted(hacks.HACKS)))
    with capsys.disabled():
        print(f"\n{'hack':26} {'pytest alone':13} {'inprocess':10} process")
        for name, fooled, beside, away in rows:
            print(f"{name:26} {'pass' if fooled else '-':13} {beside.verdict:10} {away.verdict} ({away.reason[:60]})")
        print(f"{len(rows)} hacks; pytest alone lets {sum(fooled for _, fooled, _, _ in rows)} pass")
    assert not [name for name, _, beside, away in rows if "pass" in (beside.verdict, away.verdict)]
    assert {away.verdict for *_, away in rows} == {"fail", "broken"}
    assert not [name for name, *_, away in rows if away.harness_fault]


def test_what_honest_oracles_use_crosses_the_boundary(isolation: Isolation) -> None:
    first = apart(code(crossing.SHELF, "shelf.py"), crossing.RICH, isolation)
    kinds = {event.partition(":")[0] for event in first.events}
    assert kinds <= {
        "claim",
        "flattened",
        "oracle_data",
    }  # a yes or no, and changed arguments: the reference solution's own are fine
    seen = apart(code(crossing.SHELF, "shelf.py"), crossing.RICH, isolation, baseline_events=frozenset(first.events))
    assert seen.verdict == "pass", (seen.reason, seen.output)
    assert len(seen.outcomes) == 10


CANNOT = [
    ("def f(g):\n    return g()", "f(lambda: 1)", "an argument: an instance of builtins.function"),
    ("def f():\n    return V()\nclass V:\n    def __eq__(self, _):\n        return True", "f() == 1", "a comparison of mod.V"),
    ("class V:\n    def __lt__(self, _):\n        return True\ndef f():\n    return V()", "f() < 1", "__lt__ of mod.V"),
    ("class V:\n    def __float__(self):\n        return 1.0\ndef f():\n    return V()", "float(f()) == 1.0", "__float__ of mod.V"),
    ("def f():\n    x = []\n    x.append(x)\n    return x", "f()", "a value that is too deep or too large"),
    ("def f():\n    return bytes(20_000_000)", "f()", "a value that is too large"),
    ("class V:\n    pass\ndef f():\n    pass", "type('W', (mod.V,), {})", "a subclass of mod.V"),
    ("X = 1\ndef f():\n    pass", "setattr(mod, 'X', lambda: 2)", "an argument: an instance of builtins.function"),
    ("import itertools\ndef f():\n    return itertools.count()", "f()", "an iterator with more than 100000 elements"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "test", "what"),
    [case if number < 3 else pytest.param(*case, marks=pytest.mark.heavy) for number, case in enumerate(CANNOT)],
)
def test_what_cannot_cross_is_named_and_even_a_test_that_waits_for_any_exception_does_not_pass(
    isolation: Isolation, text: str, test: str, what: str
) -> None:
    asked = f"import pytest\nimport mod\nfrom mod import f\n\n\ndef test_it():\n    with pytest.raises(BaseException):\n        assert not {test}\n"
    seen = apart(code(text + "\n"), asked, isolation)
    assert (seen.verdict, seen.reason) == ("broken", f"product_uncarried:{what}")


FORGED = {
    "a pickle": '["pickle", "cos\\nsystem"]',
    "a module of theirs": '["M", "os"]',
    "an object of no class": '["O", 1, null]',
    "a function without a number": '["F"]',
    "a float as a word": '["f", "__import__"]',
    "an unhashable": '["s", ["l"]]',
    "deep": "[" * 5000 + "]" * 5000,
}


@pytest.mark.parametrize("sent", FORGED, ids=list(FORGED))
def test_an_answer_that_no_honest_side_gives_ends_the_conversation_and_executes_nothing(sent: str) -> None:
    import socket

    from stages.oracle.inside import bridge, codec, remote

    here, there = socket.socketpair()
    told: list[str] = []
    channel = bridge.Channel(codec, lambda made: remote.Builder(made, bridge.function), here.detach(), told.append, 5.0)
    body = f'{{"id":1,"ok":{FORGED[sent]}}}'.encode()
    there.sendall(len(body).to_bytes(4, "big") + body)
    with pytest.raises(bridge.Boundary):
        channel.ask("get", target=["M", "mod"], name="x")
    assert [event.partition(":")[0] for event in told] == ["product_malformed"]
    with pytest.raises(bridge.Boundary):  # nothing is asked any more
        channel.ask("get", target=["M", "mod"], name="x")
    there.close()


def test_a_class_is_named_only_if_it_is_an_exception_of_the_standard_library() -> None:
    from stages.oracle.inside import remote

    assert remote.standard("builtins", "KeyError") is KeyError
    for module, name in (
        ("os", "system"),
        ("builtins", "KeyboardInterrupt"),
        ("unittest.case", "SkipTest"),
        ("pytest", "fail"),
    ):
        made = remote.standard(module, name)
        assert (made.__name__, made.__mro__[1], made.__module__) == (name, Exception, "stages.oracle.inside.remote")


def test_code_that_takes_the_socket_gives_values_like_any_function(isolation: Isolation) -> None:
    """It answers every request itself, with a number that is wrong: the tests that compare it fail."""
    text = (
        "import json, os, socket, stat\n"
        "for handle in range(3, 64):\n"
        "    try:\n"
        "        if stat.S_ISSOCK(os.fstat(handle).st_mode):\n"
        "            channel = socket.socket(fileno=handle)\n"
        "    except OSError:\n"
        "        continue\n"
        "number = 1\n"
        "answer = True\n"
        "while True:\n"
        "    body = json.dumps({'id': number, 'ok': answer}).encode()\n"
        "    channel.sendall(len(body).to_bytes(4, 'big') + body)\n"
        "    size = int.from_bytes(channel.recv(4), 'big')\n"
        "    asked = json.loads(channel.recv(size))\n"
        "    number = asked['id']\n"
        "    answer = ['F', 1, 'mod', 'f', False] if asked['op'] == 'get' else 7\n"
    )
    oracle = "from mod import f\n\n\ndef test_a():\n    assert f() == 7\n\n\ndef test_b():\n    assert f() == 8\n"
    seen = apart(code(text), oracle, isolation)
    assert (seen.verdict, seen.reason) == ("fail", "1 of 2 tests failed"), (seen.events, seen.output)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import os, signal\ndef f():\n    os.kill(os.getpid(), signal.SIGKILL)", "product_ended"),
        ("import time\ndef f():\n    time.sleep(1000)", "timeout"),
    ],
)
def test_code_that_ends_or_hangs_in_the_middle_of_a_test_is_broken(
    isolation: Isolation, text: str, reason: str
) -> None:
    oracle = (
        "import pytest\nfrom mod import f\n\n\ndef test_it():\n    with pytest.raises(BaseException):\n        f()\n"
    )
    seen = apart(code(text + "\n"), oracle, isolation, 3.0)
    assert (seen.verdict, seen.reason) == ("broken", reason), seen.output
    assert seen.wall_s < 10


def test_a_server_that_outlives_its_tests_is_ended_with_them(isolation: Isolation) -> None:
    text = "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\ndef f():\n    return 1\n"
    seen = apart(code(text), "from mod import f\n\n\ndef test_it():\n    assert f() == 1\n", isolation)
    assert seen.verdict == "pass"
    assert seen.wall_s < 10


def test_neither_side_finds_the_files_of_the_other(isolation: Isolation) -> None:
    text = "import os\ndef f(path):\n    return os.path.exists(path)\n"
    oracle = (
        "import os\nfrom mod import f\n\n\ndef test_it():\n"
        "    assert f('/ws/mod.py') and not os.path.exists('/ws/mod.py')\n"
        "    assert not f('/oracle') and os.path.exists('/oracle/test_it.py')\n"
    )
    seen = apart(code(text), oracle, isolation)
    assert (seen.verdict, seen.reason) == ("pass", "1 tests passed"), seen.output


def test_programs_and_servers_are_asked_through_a_fixture(isolation: Isolation) -> None:
    seen = apart([*code(crossing.CLI, "cli.py"), *code(crossing.SERVER, "server.py")], crossing.PROGRAMS, isolation)
    assert (seen.verdict, seen.reason) == ("pass", "3 tests passed"), seen.output
    wrong = apart(
        [*code(crossing.CLI.replace("+", "-"), "cli.py"), *code(crossing.SERVER, "server.py")],
        crossing.PROGRAMS,
        isolation,
    )
    assert (wrong.verdict, wrong.reason) == ("fail", "1 of 3 tests failed")


@pytest.mark.heavy
def test_what_both_sides_used_is_counted(isolation: Isolation) -> None:
    burn = "import time\ndef f():\n    until = time.process_time() + 1.0\n    while time.process_time() < until:\n        pass\n    return len(bytearray(300_000_000))\n"
    seen = apart(code(burn), "from mod import f\n\n\ndef test_it():\n    assert f() == 300_000_000\n", isolation)
    assert seen.verdict == "pass"
    assert 1.0 < seen.cpu_s < 4
    assert seen.max_rss_kb > 290_000


def test_a_sandbox_that_cannot_be_made_is_a_harness_fault() -> None:
    seen = apart(hacks.solved(), hacks.ORACLE, Isolation("namespaces", bwrap="/bin/false"))
    assert (seen.verdict, seen.harness_fault) == ("broken", True)
