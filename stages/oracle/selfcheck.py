"""The harness's check of itself: on a tree of its own it tells a pass from a fail."""

from __future__ import annotations

from stages.contract.errors import CheckFailed
from stages.contract.trees import FILE, Entry
from stages.oracle.verdict import observe
from stages.sandbox import Isolation

_HEAD = b"from selfcheck_adder import add\n\n\n"
_TREE = [Entry("selfcheck_adder.py", FILE, b"def add(a, b):\n    return a - b\n")]
_RIGHT = [Entry("selfcheck_adder.py", FILE, b"def add(a, b):\n    return a + b\n")]
_ORACLE = [Entry("test_adder.py", FILE, _HEAD + b"def test_add():\n    assert add(2, 3) == 5\n")]
_IMPOSSIBLE = [
    Entry(
        "test_placebo.py",
        FILE,
        _HEAD + b"def test_impossible():\n    value = add(2, 3)\n    assert type(value) is int\n"
        b"    assert value % 2 == 0 and value % 2 == 1\n",
    )
]


class SelfCheckFailed(CheckFailed):
    """The harness itself can't tell a pass from a fail here; nothing may run."""


def tells_apart(isolation: Isolation) -> list[str]:
    """A placebo fails, the untouched workspace fails, a right solution passes: a line each. Raises SelfCheckFailed."""
    lines = []
    for what, tree, oracle, expected in (
        ("a placebo", _RIGHT, _IMPOSSIBLE, "fail"),
        ("the untouched workspace", _TREE, _ORACLE, "fail"),
        ("a right solution", _RIGHT, _ORACLE, "pass"),
    ):
        seen = observe(tree, oracle, kind="pytest", timeout_s=60.0, expected=None, isolation=isolation)
        if seen.verdict != expected:
            raise SelfCheckFailed(
                "self-check", f"{what} got {seen.verdict} ({seen.reason})", expected, "nothing is run"
            )
        lines.append(f"self-check: {what} gets {seen.verdict}")
    return lines
