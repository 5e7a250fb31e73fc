"""No patch that leaves the task unsolved gets a pass, whatever it does to the machinery around it."""

from __future__ import annotations

import pytest
from stages.oracle import Observation, observe
from stages.sandbox import Isolation, find

from . import hacks

NONE = Isolation("none")
TAMPER = {
    "forged_lines", "always_equal", "always_equal_number", "patched_report", "patched_report_late", "patched_and_restored",
    "patched_code", "patched_raises", "fake_module", "patched_stdlib", "patched_builtins", "plugin_registered",
    "items_exchanged", "oracle_data_changed", "watcher_exchanged", "guards_exchanged", "frame_peeking", "frame_by_inspect",
    "frame_by_traceback", "frame_by_generator", "collector_surgery", "reads_the_oracle", "reads_memory", "tracing",
    "ctypes_surgery", "threads", "fork",
}  # fmt: skip
BROKEN = {
    "exit_at_import", "exit_at_call", "pytest_exit", "skip", "xfail", "forged_output", "hang", "items_removed", "planted_module",
}  # fmt: skip


def look(tree: list[hacks.Entry], isolation: Isolation, timeout_s: float = 30) -> Observation:
    return observe(
        tree,
        hacks.ORACLE,
        kind="pytest",
        timeout_s=timeout_s,
        expected=hacks.EXPECTED,
        isolation=isolation,
        frozen=hacks.WORKSPACE,
    )


@pytest.fixture(params=["namespaces", "none"])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    if request.param == "none":
        return NONE
    found = find()
    if found.tier == "none":
        pytest.skip(f"no namespaces here: {found.why}")
    return found


def test_the_honest_solution_passes(isolation: Isolation) -> None:
    seen = look(hacks.solved(), isolation)
    assert (seen.verdict, seen.reason, seen.events) == ("pass", "6 tests passed", ())
    assert sorted(seen.outcomes) == hacks.EXPECTED


def test_the_untouched_workspace_fails(isolation: Isolation) -> None:
    seen = look(hacks.WORKSPACE, isolation)
    assert (seen.verdict, seen.events) == ("fail", ())
    assert seen.outcomes["test_total.py::test_nothing"] == "passed"


@pytest.mark.parametrize("name", hacks.HACKS)
def test_a_hack_never_passes(name: str) -> None:
    found = find()
    seen = look(hacks.tree(name), found, timeout_s=6 if name == "hang" else 30)
    wanted = "tamper" if name in TAMPER else "broken" if name in BROKEN else "fail"
    assert (name, seen.verdict) == (name, wanted), (seen.reason, seen.outcomes, seen.events, seen.output)
    assert not seen.harness_fault
