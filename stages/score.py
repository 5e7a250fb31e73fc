"""Score: every patch gets a verdict that it can't forge, and a ledger of what it assumed."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages.contract import layout, parquet, tables
from stages.contract.digest import canonical
from stages.contract.errors import InputError
from stages.contract.files import stage
from stages.contract.plan import Plan, PlanItem
from stages.contract.protocol import OracleParams
from stages.contract.study import read_admitted, read_params, read_plan, read_trials

if TYPE_CHECKING:
    from stages.contract.study import Trial
    from stages.oracle import Bench, Observation

INPUTS = [
    *(layout.PARAMS, layout.PLAN, layout.ADMITTED, layout.ITEMS, layout.TREES, layout.HIDDEN),
    *(layout.TRIALS, layout.PATCHES, layout.STAMPS, layout.TRANSCRIPTS),
]


def score(root: Path, say: Callable[[str], None] = print) -> None:
    """Write verdicts, findings and the ledger. Verdicts are stored by content and reused."""
    with stage(root, INPUTS) as out:
        params = read_params(root)
        made = scored(root, read_plan(root), params.oracle, params.run.allow_no_isolation, say)
        for name, rows in made.items():
            out.table(TABLES[name], parquet.table(tables.ALL[name], rows))


Rows = list[dict[str, Any]]
TABLES = {"ledger": layout.LEDGER, "findings": layout.FINDINGS, "verdicts": layout.VERDICTS}


def scored(
    root: Path, plan: Plan, oracle: OracleParams, allow_no_isolation: bool, say: Callable[[str], None]
) -> dict[str, Rows]:
    """Rows of ledger, findings and verdicts of all stored trials. Verdicts that lie beside `root` are reused."""
    from stages.gate import runner_changes
    from stages.oracle import Bench
    from stages.render import progress
    from stages.sandbox import require

    items = {i.item_id: i for i in plan.items}
    isolation = require(plan.isolation, allow_no_isolation, root)
    trials = _of_plan(read_trials(root), items, plan.sha256(), say)
    changed = runner_changes([t.row for t in trials])
    bench = Bench.open(root, plan, isolation, read_admitted(root)["items"], oracle)
    ledger, findings, verdicts = [], [], []
    with progress("scored", say) as tick, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for row, found, seen in pool.map(lambda t: _score(bench, items[t.row["item_id"]], t, changed), trials):
            ledger.append(row)
            findings += found
            verdicts += seen
            tick(len(ledger), len(trials), "", "completed")
    return {"ledger": ledger, "findings": findings, "verdicts": verdicts}


def _of_plan(trials: list[Trial], items: dict[str, PlanItem], plan_sha: str, say: Callable[[str], None]) -> list[Trial]:
    """Trials of items that are frozen. Others can only be of an earlier pack, which withholds; they are named."""
    strange = [t.row for t in trials if t.row["item_id"] not in items]
    for row in strange:
        if row["plan_sha256"] == plan_sha:
            raise InputError(layout.TRIALS, f"a trial of {row['item_id']}", "trials of items that the plan holds")
    if strange:
        gone = sorted({str(row["item_id"]) for row in strange})
        say(f"{len(strange)} trials of items that aren't frozen any more have no oracle to score: {', '.join(gone)}")
    return [t for t in trials if t.row["item_id"] in items]


def _score(
    bench: Bench, item: PlanItem, trial: Trial, changed: dict[tuple[str, str, int], str]
) -> tuple[dict[str, Any], Rows, Rows]:
    """The ledger row of one trial, its findings, its verdicts."""
    from stages.assumptions import examine, matches, terms
    from stages.gate import ledger_row

    key = {name: trial.row[name] for name in ("item_id", "arm", "repeat")}
    place = (key["item_id"], key["arm"], key["repeat"])
    seen: dict[str, Observation] = {}
    if trial.judged:
        inside = [c for c in trial.changes if matches(item.allow.files_write, c.path)]
        seen["first"] = bench.verdict(item.item_id, trial.changes)
        seen["inside"] = bench.verdict(item.item_id, inside) if len(inside) < len(trial.changes) else seen["first"]
        if bench.rechecked(*place):
            seen["recheck"] = bench.verdict(item.item_id, trial.changes, attempt=1)
    ran = seen["first"].ran if "first" in seen else ()
    found = examine(bench.tree(item.item_id), trial.changes, *terms(item), ran)
    counted: dict[str, int | None] = {
        "generated_lines": found.generated_lines,
        "invented_imports": found.invented_imports,
        "invented_env": found.invented_env,
        "unauthorised_files": found.unauthorised_files,
        "violations": found.violations,
        "extended": found.extended,
        "interface_drift": found.interface_drift if found.interface_checked else None,
    }
    text = b"\0".join([*(c.content or b"" for c in trial.changes), *trial.streams])
    hits = sum(text.count(canary.encode()) for canary in item.canaries)
    tier = bench.isolation.tier
    verdicts = {kind: {"verdict": one.verdict, "reason": one.reason, "isolation": tier} for kind, one in seen.items()}
    row = ledger_row(trial.row, item, verdicts, counted, trial.stamps, hits, changed.get(place))
    return (
        row,
        [{**key, "number": n, **vars(finding)} for n, finding in enumerate(found.findings)],
        [_verdict_row(key, kind, one, bench) for kind, one in seen.items()],
    )


def _verdict_row(key: dict[str, Any], kind: str, seen: Observation, bench: Bench) -> dict[str, Any]:
    return {
        **key,
        "kind": kind,
        "oracle_key": bench.key(key["item_id"]),
        "verdict": seen.verdict,
        "reason": seen.reason,
        "outcomes": canonical(dict(seen.outcomes)).decode(),
        "events": canonical(list(seen.events)).decode(),
        "isolation": bench.isolation.tier,
        "wall_s": round(seen.wall_s, 6),
        "cpu_s": round(seen.cpu_s, 6),
        "max_rss_kb": seen.max_rss_kb,
    }
