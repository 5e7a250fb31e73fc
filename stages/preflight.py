"""Preflight: every item is shown to be sound on the frozen bytes, before any arm may look at it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from stages.contract import layout, parquet, tables
from stages.contract.digest import pretty
from stages.contract.errors import CheckFailed
from stages.contract.files import stage
from stages.contract.study import read_files, read_params, read_plan
from stages.contract.trees import Entry

if TYPE_CHECKING:
    from stages.oracle import Admission
    from stages.sandbox import Isolation


def preflight(root: Path, say: Callable[[str], None] = print) -> list[str]:
    """Write which items are admitted, and the evidence. Returns a line on each that is refused, and why."""
    from stages.oracle import admit
    from stages.packs import leaked_solution
    from stages.render import progress
    from stages.sandbox import require

    with stage(root, [layout.PARAMS, layout.PLAN, layout.TREES, layout.HIDDEN]) as out:
        plan, params = read_plan(root), read_params(root)
        files = read_files(root, plan)
        isolation = require(plan.isolation, params.run.allow_no_isolation, root)
        for line in self_check(isolation):
            say(line)
        with progress("preflight", say) as tick, ThreadPoolExecutor(os.cpu_count() or 1) as pool:

            def one(number: int) -> Admission:
                item = plan.items[number]
                tree, solution = files[(item.item_id, "workspace")], files.get((item.item_id, "solution"), [])
                statement = files[(item.item_id, "statement")][0].content
                return admit(item, files, lambda: leaked_solution(solution, tree, statement), isolation)

            done = []
            for made in pool.map(one, range(len(plan.items))):
                done.append(made)
                tick(len(done), len(plan.items), "", "completed")
        admitted = {a.item.item_id: a.entry() for a in done}
        rows = [row for a in done for row in a.rows]
        out.bytes(
            layout.ADMITTED,
            pretty({"schema": "weighbridge.admitted/1", "plan_sha256": plan.sha256(), "items": admitted}),
        )
        out.table(layout.CHECKS, parquet.table(tables.CHECKS, rows))
    for made in done:
        if made.placebo_passed:
            say(f"placebo {made.item.item_id} passes on the untouched workspace: no arm will be started")
    return [f"{a.item.item_id}: {a.rule}: {a.why()}" for a in done if a.rule]


class SelfCheckFailed(CheckFailed):
    """The harness itself can't tell a pass from a fail here; nothing may run."""


_TREE = [Entry("selfcheck_adder.py", "100644", b"def add(a, b):\n    return a - b\n")]
_RIGHT = [Entry("selfcheck_adder.py", "100644", b"def add(a, b):\n    return a + b\n")]
_ORACLE = [
    Entry(
        "test_adder.py",
        "100644",
        b"from selfcheck_adder import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
    )
]
_IMPOSSIBLE = [
    Entry(
        "test_placebo.py",
        "100644",
        b"from selfcheck_adder import add\n\n\ndef test_impossible():\n    value = add(2, 3)\n"
        b"    assert type(value) is int\n    assert value % 2 == 0 and value % 2 == 1\n",
    )
]


def self_check(isolation: Isolation) -> list[str]:
    """Four things that must hold before anything else runs, a line each. Raises SelfCheckFailed."""
    from stages.contract.protocol import Protocol
    from stages.gate import Event, judge_event
    from stages.oracle import observe

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
    event = Event(rule="candidate_failed", item_id="x", time=datetime(2026, 1, 1, tzinfo=UTC))
    why = judge_event("{}", event, {"x": False}, Protocol(), {}, ())
    if why is None:
        raise SelfCheckFailed("self-check", "a post-hoc exclusion was accepted", "its refusal", "nothing is run")
    return [*lines, f"self-check: a post-hoc exclusion is refused ({why})"]
