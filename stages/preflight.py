"""Preflight: every item is shown to be sound on the frozen bytes, before any arm may look at it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from stages.contract import layout, parquet, tables
from stages.contract.digest import pretty
from stages.contract.files import stage
from stages.contract.plan import PlanItem
from stages.contract.protocol import Params
from stages.contract.study import read_files, read_params, read_plan
from stages.contract.trees import Entry

if TYPE_CHECKING:
    from stages.oracle import Admission, Finding, VerdictStore
    from stages.sandbox import Isolation

Files = dict[tuple[str, str], list[Entry]]


def preflight(root: Path, say: Callable[[str], None] = print) -> list[str]:
    """Write which items are admitted, and the evidence. Returns a line on each that is refused, and why."""
    from stages.oracle import VERDICTS, VerdictStore, summary
    from stages.packs import resemblances
    from stages.render import progress
    from stages.sandbox import environments, require

    with stage(root, [layout.PARAMS, layout.PLAN, layout.TREES, layout.HIDDEN]) as out:
        plan, params = read_plan(root), read_params(root)
        files = read_files(root, plan)
        isolation = require(plan.isolation, params.run.allow_no_isolation, root)
        most, store = params.protocol.mutant_limit(), VerdictStore(layout.journal(root) / VERDICTS)
        wheels = environments(root, plan.items, files, isolation)
        for line in self_check(isolation):
            say(line)
        done: list[Admission] = []
        with progress("preflight", say) as tick, ThreadPoolExecutor(os.cpu_count() or 1) as pool:

            def admit(item: PlanItem) -> Admission:
                return _admitted(item, files, isolation, wheels.get(item.item_id), params, store)

            for made in pool.map(admit, plan.items):
                done.append(made)
                tick(len(done), len(plan.items), "", "completed")
        alike = resemblances(plan.items, files)
        for one in alike:
            _note_alike(done, one.what, one.nearest())
        admitted = {a.item.item_id: a.entry() for a in done}
        out.bytes(
            layout.ADMITTED,
            pretty({"schema": "weighbridge.admitted/1", "plan_sha256": plan.sha256(), "items": admitted}),
        )
        out.table(layout.CHECKS, parquet.table(tables.CHECKS, [row for a in done for row in a.rows]))
    strata = {item.item_id: item.stratum for item in plan.items}
    for line in [*summary(done, most), *(line for one in alike for line in one.lines(strata))]:
        say(line)
    return [f"{a.item.item_id}: {a.rule}: {a.why()}" for a in done if a.rule]


def _admitted(
    item: PlanItem, files: Files, isolation: Isolation, wheels: Path | None, params: Params, store: VerdictStore
) -> Admission:
    from stages.oracle import admit_within
    from stages.packs import leaked_solution

    tree, solution = files[(item.item_id, "workspace")], files.get((item.item_id, "solution"), [])
    statement = files[(item.item_id, "statement")][0].content
    return admit_within(
        item,
        files,
        lambda: leaked_solution(solution, tree, statement),
        isolation,
        params.oracle.boundary,
        known=_known(item, files, tree, solution, statement),
        most_surviving=params.protocol.mutant_limit(),
        store=store,
        environment=wheels,
    )


def _known(item: PlanItem, files: Files, tree: list[Entry], solution: list[Entry], statement: bytes) -> list[Finding]:
    """What can be found out about an item without running anything."""
    from stages.assumptions import beyond_contract
    from stages.oracle import Finding
    from stages.packs import names_interface, open_oracle, starred

    stars = starred(files[(item.item_id, "oracle")], [*tree, *solution])
    read, looked, where = open_oracle(files[(item.item_id, "oracle")], item.oracle, tree, statement)
    breaks, drifts = beyond_contract(item, tree, solution)
    leaked = "leaked_solution" if read and read == looked and not item.placebo else None
    return [
        Finding("hidden tests", f"{read} of {looked} can be read" if read else "none", "none", leaked, where or ""),
        Finding("contract", "; ".join(breaks[:3]) or "kept", "kept", "oracle_broken" if breaks else None),
        Finding("interface", f"the reference solution: {'; '.join(drifts[:3])}" if drifts else "kept", "kept"),
        Finding("oracle's imports", stars or "by name", "by name", "oracle_broken" if stars else None),
        Finding("statement", names_interface(statement, item.interface) or "names it", "names it"),
    ]


def _note_alike(done: list[Admission], what: str, nearest: dict[str, tuple[str, Fraction]]) -> None:
    for made in done:
        if made.item.item_id in nearest:
            other, share = nearest[made.item.item_id]
            found = f"{float(share):.2f} of {other}"
            made.note(f"alike by {what}", 0, found, "below 0.80", None, "", 0.0, warn=True)


def self_check(isolation: Isolation) -> list[str]:
    """Four things that must hold before anything else runs, a line each. Raises SelfCheckFailed."""
    from stages.contract.protocol import Protocol
    from stages.gate import Event, judge_event
    from stages.oracle import SelfCheckFailed, tells_apart

    lines = tells_apart(isolation)
    event = Event(rule="candidate_failed", item_id="x", time=datetime(2026, 1, 1, tzinfo=UTC))
    why = judge_event("{}", event, {"x": False}, Protocol(), {}, ())
    if why is None:
        raise SelfCheckFailed("self-check", "a post-hoc exclusion was accepted", "its refusal", "nothing is run")
    return [*lines, f"self-check: a post-hoc exclusion is refused ({why})"]
