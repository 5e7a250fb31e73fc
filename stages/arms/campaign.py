"""One go of trials under one plan: both arms interleaved in the registered order, resumed, never repeated."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from stages.arms.journal import Finished, Journal, Key
from stages.arms.trial import ArmName, Setting, run_trial
from stages.contract.errors import SpendRefused
from stages.contract.plan import Block, Plan

Progress = Callable[[int, int, str, str], None]
"""Called after each trial with trials finished, trials planned, arm, how it ended."""
Judge = Callable[[str, Finished], bool]
"""Whether a finished placebo trial of that item passed its oracle."""


@dataclass(frozen=True)
class Pending:
    """A block with the arms that aren't finished in it."""

    number: int
    block: Block
    arms: list[tuple[int, ArmName]]


def pending(plan: Plan, finished: set[Key], skip: set[str]) -> list[Pending]:
    """What is left of the registered schedule, in its order. Items in `skip` were refused by preflight."""
    result: list[Pending] = []
    for number, block in enumerate(plan.schedule):
        order: list[ArmName] = ["candidate", "control"] if block.first == "candidate" else ["control", "candidate"]
        arms = [(p, a) for p, a in enumerate(order) if (block.item_id, a, block.repeat) not in finished]
        if arms and block.item_id not in skip:
            result.append(Pending(number, block, arms))
    if plan.arms.order == "sequential":  # all of the control's trials, then all of the candidate's
        return [
            Pending(p.number, p.block, [(q, a) for q, a in p.arms if a == name])
            for name in ("control", "candidate")
            for p in result
            if any(a == name for _, a in p.arms)
        ]
    return result


def refuse_spending(plan: Plan, todo: list[Pending]) -> None:
    """Raise SpendRefused where a paid arm would run and nobody said that it may."""
    arms: list[ArmName] = ["candidate", "control"]
    for name in arms:
        _may_spend(plan, name, [p.block.item_id for p in todo if any(a == name for _, a in p.arms)])


def refuse_trial(plan: Plan, name: ArmName, item_id: str) -> None:
    """The same for a single trial that is run by hand."""
    _may_spend(plan, name, [item_id])


def _may_spend(plan: Plan, name: ArmName, items: list[str]) -> None:
    arm = plan.arms.candidate if name == "candidate" else plan.arms.control
    if not arm.paid or not items or os.environ.get("WEIGHBRIDGE_SPEND") == "yes":
        return
    budgets = {i.item_id: i.time_budget_s for i in plan.items}
    raise SpendRefused(
        f"arm {name} ({arm.name})",
        f"is paid, and {len(items)} trials of up to {sum(budgets[i] for i in items):,} s in all would run",
        "WEIGHBRIDGE_SPEND=yes in the environment",
        "set it to spend; `dvc pull` may be what was meant, to fetch trials that were already run",
    )


def run_campaign(
    setting: Setting, journal: Journal, workers: int, skip: set[str], judge: Judge, progress: Progress
) -> str | None:
    """Run what is left of the plan. Returns why it stopped early, or None when every planned trial is finished.

    A placebo that passes its impossible oracle stops all further spending at once.
    """
    plan_sha = setting.plan_sha256
    finished = journal.finished(plan_sha)
    placebos = {i.item_id for i in setting.plan.items if i.placebo}
    todo = pending(setting.plan, finished, skip)
    total = len(finished) + sum(len(p.arms) for p in todo)
    stopped: list[str] = []
    for (item, arm, repeat), done in journal.load(plan_sha):
        # A process that died between a placebo's trial and its verdict left no mark.
        if item in placebos and judge(item, done):
            stopped.append(f"placebo_passed: {item}, {arm}, repeat {repeat}")

    def block(work: Pending) -> None:
        for position, arm in work.arms:
            if stopped:
                return
            key = (work.block.item_id, arm, work.block.repeat)
            interrupted = journal.claim(plan_sha, key, datetime.now(UTC).isoformat())
            done = run_trial(setting, arm, work.block.item_id, work.block.repeat, work.number, position, interrupted)
            journal.finish(plan_sha, key, done)
            finished.add(key)
            progress(len(finished), total, arm, str(done.row["ended"]))
            if work.block.item_id in placebos and judge(work.block.item_id, done):
                stopped.append(f"placebo_passed: {work.block.item_id}, {arm}, repeat {work.block.repeat}")

    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="trial") as pool:
        _drain(pool, block, iter(todo), workers, stopped)
    if stopped:
        journal.stop(plan_sha, stopped[0])
        return stopped[0]
    return None


def _drain(
    pool: ThreadPoolExecutor,
    work: Callable[[Pending], None],
    todo: Iterator[Pending],
    workers: int,
    stopped: list[str],
) -> None:
    """Keep every worker busy in the registered order; the first error ends the campaign, others are let finish."""
    running: set[Future[None]] = set()
    error: BaseException | None = None
    while True:
        while error is None and not stopped and len(running) < workers:
            following = next(todo, None)
            if following is None:
                break
            running.add(pool.submit(work, following))
        if not running:
            break
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            error = error or future.exception()
    if error is not None:
        raise error


def rows_of(journal: Journal, plan_sha: str) -> dict[str, list[dict[str, Any]]]:
    """Rows of the trial tables of a plan, in key order: trials, patches, transcripts, stamps, calls."""
    tables: dict[str, list[dict[str, Any]]] = {n: [] for n in ("trials", "patches", "transcripts", "stamps", "calls")}
    for (item, arm, repeat), done in journal.load(plan_sha):
        key = {"item_id": item, "arm": arm, "repeat": repeat}
        tables["trials"].append(done.row)
        tables["patches"] += [{**key, **vars(change)} for change in done.changes]
        tables["transcripts"] += [
            {**key, "stream": name, "bytes_total": total, "content": content}
            for name, (total, content) in sorted(done.streams.items())
        ]
        tables["stamps"] += [{**key, "attempt": n, "stamp": text} for n, text in enumerate(done.stamps, start=1)]
    return tables
