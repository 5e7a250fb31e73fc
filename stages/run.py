"""Run: both arms attempt every planned trial, interleaved in the registered order; nothing finished runs twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from stages.contract import layout, parquet, tables
from stages.contract.digest import pretty
from stages.contract.errors import InputError
from stages.contract.files import stage
from stages.contract.study import read_admitted, read_manifest, read_params, read_plan

if TYPE_CHECKING:
    from stages.arms import Campaign, Judge
    from stages.sandbox import Isolation

TABLES = {
    "trials": layout.TRIALS,
    "patches": layout.PATCHES,
    "transcripts": layout.TRANSCRIPTS,
    "stamps": layout.STAMPS,
    "calls": layout.CALLS,
    "replaced": layout.REPLACED,
}


def run(root: Path, say: Callable[[str], None] = print) -> str | None:
    """Run what is left of the campaign and write its tables. Returns why it stopped early, or None.

    Raises SpendRefused where a paid arm may not run, InputError where a runner isn't the pinned one. Every finished
    trial is in the journal by then, so nothing is lost by an error.
    """
    from stages.arms import (
        Campaign,
        Journal,
        changed_pack,
        conduct,
        plan_lock,
        recorded,
        rows_of,
    )
    from stages.gate import read_events
    from stages.render import progress

    inputs = [layout.PLAN, layout.MANIFEST, layout.ADMITTED, layout.ITEMS, layout.TREES, layout.HIDDEN]
    with stage(root, inputs) as out:
        plan, manifest, params = read_plan(root), read_manifest(root), read_params(root)
        plan_sha = plan.sha256()
        if manifest.plan_sha256 != plan_sha:
            raise InputError(layout.MANIFEST, "belongs to another plan", layout.PLAN, "run `dvc repro freeze`")
        folder = layout.journal(root)
        with plan_lock(folder, plan_sha, say):
            journal = Journal(folder)
            try:
                changed = changed_pack(root, plan, journal)
                if changed:
                    say("the pack was edited after its trials ran: no new trial starts, the old ones are handed on")
                    source = changed["plan"]
                else:
                    source = plan_sha
                    events = [line for line, _ in read_events(root)]
                    go = Campaign(root, plan, manifest, params, read_admitted(root)["items"], events, journal, say)
                    conduct(go, lambda isolation: _placebo_judge(go, isolation), progress)
                record = recorded(journal, source)
                for name, rows in rows_of(journal, source).items():
                    out.table(TABLES[name], parquet.table(tables.ALL[name], rows))
                out.bytes(layout.CAMPAIGN, pretty({**record, "pack_changed": changed}))
            finally:
                journal.close()
    stopped = record["stopped"]
    return None if stopped is None else str(stopped)


def _placebo_judge(go: Campaign, isolation: Isolation) -> Judge:
    """Whether a placebo's patch passes its impossible oracle, judged as soon as its trial ends."""
    from stages.oracle import Bench

    bench = Bench.open(go.root, go.plan, isolation, go.admitted, go.manifest.oracle)
    return lambda item_id, done: bench.verdict(item_id, done.changes).verdict == "pass"
