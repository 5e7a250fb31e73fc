"""The rules of the verdict, on real runs."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Literal

import pytest

from stages.contract.trees import EXECUTABLE, FILE, LINK, Entry
from stages.oracle import Observation, cleaned, observe, oracle_key
from stages.oracle.inside import equality
from stages.oracle.report import read
from stages.sandbox import Isolation, Limits, find

from . import hacks
from .test_hacks import look


@pytest.fixture(params=["namespaces", "none"])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    if request.param == "none":
        return Isolation("none")
    found = find()
    if found.tier == "none":
        pytest.skip(f"no namespaces on this machine: {found.why}")
    return found


def test_the_honest_solution_passes(isolation: Isolation) -> None:
    seen = look(hacks.solved(), isolation)
    assert (seen.verdict, seen.reason, seen.events) == ("pass", "6 tests passed", ())
    assert sorted(seen.outcomes) == hacks.EXPECTED
    assert 0 < seen.cpu_s < 5


def test_the_untouched_workspace_fails(isolation: Isolation) -> None:
    seen = look(hacks.WORKSPACE, isolation)
    assert (seen.verdict, seen.reason, seen.events) == ("fail", "5 of 6 tests failed", ())
    assert seen.outcomes["test_total.py::test_nothing"] == "passed"


RICH = [
    Entry(
        "conftest.py",
        FILE,
        b"import pytest\n\n\n@pytest.fixture\ndef four():\n    return 4\n\n\ndef pytest_configure(config):\n"
        b"    config.addinivalue_line('markers', 'quick: does not take long')\n",
    ),
    Entry(
        "test_rich.py",
        FILE,
        b"""import logging
import unittest
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from unittest import mock

import pytest

from tally.core import total

HERE = Path(__file__).parent
CASES = {"a": [1, 2], "b": []}


@dataclass
class Money:
    cents: int


@pytest.mark.quick
def test_fixtures_and_data(four, tmp_path, monkeypatch, capsys, caplog):
    monkeypatch.setattr("tally.core.total", lambda values: 9)
    monkeypatch.setenv("A", "b")
    (tmp_path / "x").write_text((HERE / "data.txt").read_text())
    print("seen")
    logging.getLogger().warning("said")
    assert capsys.readouterr().out == "seen\\n" and "said" in caplog.text
    assert total([four]) == 4


def test_own_equality():
    assert Money(total([1, 2])) == Money(3) and Money(1) != Money(2)
    assert Decimal("0.5") == Fraction(1, 2) and total([Decimal("0.5")]) in [Decimal("0.5")]
    assert {"a": [total([1])]} == {"a": [1]} and 1 <= total([1, 1]) <= 2
    assert total([0.1, 0.2]) == pytest.approx(0.3)
    with mock.patch("os.getcwd", return_value="/x") as called, pytest.raises(TypeError, match="unsupported"):
        total(["a"])
    assert not called.called


class TestOld(unittest.TestCase):
    def setUp(self):
        self.values = list(CASES["a"])

    def test_sum(self):
        self.assertEqual(total(self.values), 3)
        with self.subTest("inner"):
            self.assertTrue(total([1]))


class TestNew:
    @pytest.mark.parametrize(("values", "wanted"), [([1], 1), ([2, 3], 5)])
    def test_more(self, values, wanted):
        assert total(values) == wanted
""",
    ),
    Entry("data.txt", FILE, b"data"),
]


def test_what_honest_oracles_use_is_no_tampering() -> None:
    seen = observe(
        hacks.solved(), RICH, kind="pytest", timeout_s=60, expected=None, isolation=find(), frozen=hacks.WORKSPACE
    )
    assert (seen.verdict, seen.events) == ("pass", ()), (seen.reason, seen.output)
    assert len(seen.outcomes) == 5


HONEST = b"""import collections, dataclasses, functools, logging, threading, warnings

LOG = logging.getLogger(__name__)
Pair = collections.namedtuple("Pair", "a b", defaults=(1,))


@dataclasses.dataclass(order=True)
class Amount:
    value: int = 0

    def __add__(self, other):
        return Amount(self.value + other.value)


@functools.lru_cache
def total_of(values):
    return sum(values)


def total(values):
    LOG.warning("adding %s", len(values))
    warnings.warn("slow", stacklevel=2)
    try:
        raise KeyError("x")
    except KeyError:
        LOG.exception("handled")
    threads = [threading.Thread(target=lambda: None)]
    threads[0].start()
    threads[0].join()
    if values and Pair(*values[:1] * 2) and Amount(1) + Amount(2) == Amount(3):
        return total_of(tuple(values))
    return 0
"""


def test_what_honest_code_does_is_no_tampering(isolation: Isolation) -> None:
    tree = [entry if entry.path != "tally/core.py" else Entry(entry.path, FILE, HONEST) for entry in hacks.WORKSPACE]
    seen = look(tree, isolation)
    assert (seen.verdict, seen.events) == ("pass", ()), (seen.reason, seen.output)


def test_a_subtest_that_fails_fails_its_test() -> None:
    for text in ("class TestA(unittest.TestCase):\n    def test_a(self):\n        with self.subTest(1):\n",):
        oracle = [Entry("test_sub.py", FILE, f"import unittest\n{text}            self.assertEqual(1, 2)\n".encode())]
        seen = observe(hacks.solved(), oracle, kind="pytest", timeout_s=60, expected=None, isolation=find())
        assert (seen.verdict, seen.outcomes) == ("fail", {"test_sub.py::TestA::test_a": "failed"}), seen.output


def test_events_of_the_reference_solution_are_not_held_against_a_tree() -> None:
    peeking = hacks.SOLUTION.replace(b"result = 0", b"import sys; sys._getframe(); result = 0")
    tree = [entry if entry.path != "tally/core.py" else Entry(entry.path, FILE, peeking) for entry in hacks.WORKSPACE]
    given = {"kind": "pytest", "timeout_s": 60, "isolation": find(), "expected": hacks.EXPECTED}
    first = observe(tree, hacks.ORACLE, **given)  # type: ignore[arg-type]
    assert (first.verdict, first.events) == ("tamper", ("frames:sys._getframe",))
    again = observe(tree, hacks.ORACLE, baseline_events=frozenset(first.events), **given)  # type: ignore[arg-type]
    assert again.verdict == "pass"


@pytest.mark.parametrize("expected", [hacks.EXPECTED[1:], [*hacks.EXPECTED, "test_total.py::test_more"]])
def test_another_set_of_tests_is_broken(expected: list[str]) -> None:
    seen = observe(hacks.solved(), hacks.ORACLE, kind="pytest", timeout_s=60, expected=expected, isolation=find())
    assert (seen.verdict, seen.reason) == ("broken", "test_set_differs")


def test_an_oracle_without_tests_is_broken() -> None:
    nothing = [Entry("test_none.py", FILE, b"x = 1\n")]
    seen = observe(hacks.solved(), nothing, kind="pytest", timeout_s=60, expected=None, isolation=find())
    assert (seen.verdict, seen.reason) == ("broken", "no_tests")


SCRIPT = b"""import os, sys
sys.path.append(os.environ["WEIGHBRIDGE_TREE"])
from tally.core import total
assert os.path.exists("check.py")
sys.exit(0 if total([1, 2]) == 3 else 1)
"""


@pytest.mark.parametrize(
    ("tree", "command", "verdict", "reason"),
    [
        (hacks.solved(), ["python3", "check.py"], "pass", "exit 0"),
        (hacks.WORKSPACE, ["python3", "check.py"], "fail", "exit 1"),
        (hacks.solved(), ["sh", "-c", "exit 2"], "broken", "exit 2"),
        (hacks.solved(), ["no-such-program"], "broken", "exit 127"),
        (hacks.tree("planted_cache"), ["python3", "check.py"], "fail", "exit 1"),
    ],
)
def test_a_commands_exit_code_is_the_verdict(
    isolation: Isolation, tree: list[Entry], command: list[str], verdict: str, reason: str
) -> None:
    seen = observe(
        tree,
        [Entry("check.py", FILE, SCRIPT)],
        kind="command",
        command=command,
        timeout_s=30,
        expected=None,
        isolation=isolation,
    )
    assert (seen.verdict, seen.reason, seen.harness_fault) == (verdict, reason, False), seen.output


def test_only_a_sandbox_that_cannot_be_made_is_a_harness_fault() -> None:
    seen = look(hacks.solved(), Isolation("namespaces", bwrap="/bin/false"))
    assert (seen.verdict, seen.harness_fault) == ("broken", True)


def test_caches_foreign_binaries_and_links_that_leave_are_taken_out() -> None:
    native = Entry("pkg/native.so", EXECUTABLE, b"frozen")
    frozen = [native, Entry("pkg/other.so", EXECUTABLE, b"frozen")]
    kept = [native, Entry("pkg/a.py", FILE, b""), Entry("pkg/l", LINK, b"a.py"), Entry("so/readme.song", FILE, b"")]
    dropped = [
        Entry("__pycache__/a.cpython-311.pyc", FILE, b""),
        Entry("pkg/__pycache__/deep/x.txt", FILE, b""),
        Entry("pkg/a.pyc", FILE, b""),
        Entry("pkg/new.cpython-311-x86_64-linux-gnu.so", EXECUTABLE, b""),
        Entry("pkg/lib.so.1", EXECUTABLE, b""),
        Entry("pkg/other.so", EXECUTABLE, b"exchanged"),
        Entry("pkg/out", LINK, b"../../oracle"),
        Entry("pkg/abs", LINK, b"/oracle/test_total.py"),
    ]
    assert cleaned([*kept, *dropped], frozen) == kept


def test_the_key_follows_oracle_and_settings() -> None:
    key = oracle_key(hacks.ORACLE, {"timeout_s": 30})
    assert key == oracle_key(list(reversed(hacks.ORACLE)), {"timeout_s": 30})
    assert len({key, oracle_key([], {"timeout_s": 30}), oracle_key(hacks.ORACLE, {"timeout_s": 31})}) == 3


def test_lines_out_of_their_row_or_unsigned_are_events_and_no_results() -> None:
    import hashlib

    def line(nonce: bytes, *words: object) -> bytes:
        body = json.dumps(words).encode()
        return hashlib.blake2b(body, key=nonce, digest_size=16).hexdigest().encode() + b" " + body + b"\n"

    def told(*events: bytes) -> str:
        return hashlib.blake2b(b"".join(sorted(events)), digest_size=16).hexdigest()

    nonce = b"n" * 32
    start, report, end = (
        line(nonce, 0, "start"),
        line(nonce, 1, "report", "t", "call", "passed"),
        line(nonce, 2, "end", "0", told()),
    )
    assert read(start + report + end, nonce).events == set()
    noted = line(nonce, 2, "end", "0", told(b"!a\n", b"!b\n"))
    assert read(start + b"!b\n!a\n" + report + noted, nonce).events == {"a", "b"}
    for kept_back in (b"", b"!a\n", b"!a\n!b\n!c\n"):  # by whoever took the place of the pipe
        assert "forged:events" in read(start + kept_back + report + noted, nonce).events
    assert read(start + report + report + end, nonce).events == {"forged:row"}
    assert read(start + end, nonce).ended is False
    assert read(start + report + end + line(nonce, 3, "report", "u", "call", "passed"), nonce).phases.keys() == {"t"}
    foreign = read(start + line(b"other", 1, "report", "t", "call", "passed") + b"junk\n!patched:x\ntorn", nonce)
    assert (foreign.phases, foreign.events) == ({}, {"forged:line", "forged:torn", "patched:x"})


class Liar:
    def __init__(self, *true: str) -> None:
        self.true = true

    def __eq__(self, _: object) -> bool:
        return "eq" in self.true

    def __ne__(self, _: object) -> bool:
        return "ne" in self.true

    def __lt__(self, _: object) -> bool:
        return "lt" in self.true

    def __gt__(self, _: object) -> bool:
        return "gt" in self.true

    def __contains__(self, _: object) -> bool:
        return "in" in self.true

    __hash__ = object.__hash__


@pytest.mark.parametrize(
    ("sign", "left", "right"),
    [
        ("==", Liar("eq"), 3),
        ("==", 3, Liar("eq")),
        ("==", [1, {"a": (Liar("eq"),)}], [1, {"a": (2,)}]),
        ("!=", Liar("eq", "ne"), 3),
        ("in", Liar("eq"), [1, 2]),
        ("in", 3, [Liar("eq")]),
        ("<", Liar("lt", "gt"), 3),
    ],
)
def test_objects_that_equal_everything_are_found(
    monkeypatch: pytest.MonkeyPatch, sign: str, left: object, right: object
) -> None:
    told: list[str] = []
    monkeypatch.setattr(equality, "emit", told.append)
    equality.compared(sign, left, right)
    assert set(told) == {f"always_equal:{Liar.__module__}.Liar"}


def test_a_container_that_holds_everything_is_told_apart_from_one_that_equals_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(equality, "emit", told.append)
    equality.compared("in", 3, Liar("in"))
    assert told == [f"contains_anything:{Liar.__module__}.Liar"]


def test_a_wrong_solution_with_its_not_astray_is_broken_and_no_tampering() -> None:
    shelf = "class Shelf:\n    def __init__(self):\n        self.held = {}\n\n    def __contains__(self, key):\n        return key %s self.held\n"
    oracle = [
        Entry(
            "test_shelf.py",
            "100644",
            b"from shelf import Shelf\n\n\ndef test_empty():\n    assert 'a' not in Shelf()\n",
        )
    ]
    seen = {
        word: observe(
            [Entry("shelf.py", "100644", (shelf % word).encode())],
            oracle,
            kind="pytest",
            timeout_s=60.0,
            expected=None,
            isolation=find(),
        )
        for word in ("in", "not in")
    }
    assert seen["in"].verdict == "pass"
    assert (seen["not in"].verdict, seen["not in"].reason) == ("broken", "contains_anything:shelf.Shelf")


def test_an_observation_has_no_word_of_this_machine() -> None:
    seen: Observation = look(hacks.WORKSPACE, find())
    if find().tier == "namespaces":
        assert str(Path(__file__).parents[2]) not in seen.output.replace(sys.prefix, "")


WRITER = """from pathlib import Path

HERE = Path(__file__).parent


def counted():
    place = HERE / "count.txt"
    place.write_text(str(1 + (int(place.read_text()) if place.exists() else 0)))
    return int(place.read_text())
"""


@pytest.mark.parametrize("boundary", ["inprocess", "process"])
def test_code_may_write_beside_itself_as_in_a_trial_and_nothing_of_it_stays(
    isolation: Isolation, boundary: Literal["inprocess", "process"]
) -> None:
    oracle = [Entry("test_it.py", FILE, b"from writer import counted\n\ndef test_it():\n    assert counted() == 1\n")]
    tree = [Entry("writer.py", FILE, WRITER.encode())]
    for _ in range(2):
        seen = observe(tree, oracle, kind="pytest", timeout_s=60, expected=None, isolation=isolation, boundary=boundary)
        assert seen.verdict == "pass", (seen.reason, seen.output)


@pytest.mark.parametrize("boundary", ["inprocess", "process"])
@pytest.mark.parametrize(
    ("code", "limits", "said"),
    [
        ("x = [bytearray(b'x' * (32 << 20)) for _ in range(20)]", Limits(memory_bytes=200 << 20), "memory limit|ended"),
        (
            "import time\nfor n in range(60):\n    open(f'big{n}', 'wb').write(b'x' * (1 << 20))\ntime.sleep(20)",
            Limits(workspace_bytes=20 << 20),
            "workspace_bytes|ended",
        ),
    ],
    ids=["memory", "disk"],
)
def test_code_that_takes_too_much_is_broken_and_the_reason_says_of_what(
    boundary: Literal["inprocess", "process"], code: str, limits: Limits, said: str
) -> None:
    found = find()
    if found.enforced.get("memory_bytes") is not True:
        pytest.skip(f"memory isn't bounded here: {found.why}")
    body = "\n    ".join(("import os", "os.chdir(os.path.dirname(__file__))", *code.splitlines()))
    seen = observe(
        [Entry("greedy.py", FILE, f"def f():\n    {body}\n".encode())],
        [Entry("test_it.py", FILE, b"from greedy import f\n\ndef test_it():\n    f()\n")],
        kind="pytest",
        timeout_s=60,
        expected=None,
        isolation=found,
        boundary=boundary,
        limits=limits,
    )
    assert seen.verdict == "broken", (seen.reason, seen.outcomes)
    assert re.search(said, seen.reason), seen.reason
