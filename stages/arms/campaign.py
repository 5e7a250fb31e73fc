"""One go of trials under one plan: both arms interleaved in the registered order, resumed, never repeated."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from stages.arms.journal import Finished, Journal, Key, Replaced
from stages.arms.replay import start_trial, unpredicted
from stages.arms.spent import Spent
from stages.arms.trial import ArmName, Setting
from stages.contract.digest import canonical
from stages.contract.errors import SpendRefused
from stages.contract.plan import Block, Plan
from stages.session import first_violation, parse_stamp

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


def pending(plan: Plan, finished: set[Key], skip: set[str], lacking: Collection[Key] = ()) -> list[Pending]:
    """What is left of the registered schedule, in its order.

    Items in `skip` were refused by preflight, trials in `lacking` have no prediction that could be replayed.
    """
    result: list[Pending] = []
    over = finished.union(lacking)
    for number, block in enumerate(plan.schedule):
        order: list[ArmName] = ["candidate", "control"] if block.first == "candidate" else ["control", "candidate"]
        arms = [(p, a) for p, a in enumerate(order) if (block.item_id, a, block.repeat) not in over]
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

    A placebo that passes its impossible oracle stops all further spending at once, and for good; a cost that was
    reached does until it is raised. Trials in flight are let finish.
    """
    plan_sha = setting.plan_sha256
    finished = journal.finished(plan_sha)
    placebos = {i.item_id for i in setting.plan.items if i.placebo}
    todo = pending(setting.plan, finished, skip, unpredicted(setting.plan, setting.predictions))
    total = len(finished) + sum(len(p.arms) for p in todo)
    stopped: list[str] = []
    for (item, arm, repeat), done in journal.load(plan_sha):
        # A process that died between a placebo's trial and its verdict left no mark.
        if item in placebos and judge(item, done):
            stopped.append(f"placebo_passed: {item}, {arm}, repeat {repeat}")

    gone: dict[Key, int] = Counter(key for key, _ in journal.replaced(plan_sha))
    spent = Spent(setting.max_cost, [done for _, done in journal.load(plan_sha)])
    for _, replaced in journal.replaced(plan_sha):
        spent.add(replaced.done)

    def trial(work: Pending, arm: ArmName, position: int, key: Key) -> Finished | None:
        """The trial, or the last of those in its place; None where the money for a replacement was used up."""
        while True:
            before = journal.claim(plan_sha, key, datetime.now(UTC).isoformat())
            done = start_trial(
                setting, arm, work.block.item_id, work.block.repeat, work.number, position, before - gone.get(key, 0)
            )
            done.row["replaced"] = gone.get(key, 0)
            spent.add(done)
            found = None if setting.arm(arm).replayed else _replaceable(setting, done, gone.get(key, 0))
            if found is None:
                return done
            gone[key] = gone.get(key, 0) + 1
            journal.replace(plan_sha, key, Replaced(gone[key], *found, done))
            if spent.over():
                return None

    def block(work: Pending) -> None:
        for position, arm in work.arms:
            if stopped or spent.over():
                return
            key = (work.block.item_id, arm, work.block.repeat)
            done = trial(work, arm, position, key)
            if done is None:
                return
            journal.finish(plan_sha, key, done)
            finished.add(key)
            progress(len(finished), total, arm, str(done.row["ended"]))
            if work.block.item_id in placebos and judge(work.block.item_id, done):
                stopped.append(f"placebo_passed: {work.block.item_id}, {arm}, repeat {work.block.repeat}")

    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="trial") as pool:
        _drain(pool, block, iter(todo), workers, lambda: bool(stopped) or spent.over())
    if stopped:
        journal.stop(plan_sha, stopped[0])
        return stopped[0]
    return spent.why() if spent.over() else None


def _replaceable(setting: Setting, done: Finished, already: int) -> tuple[str, str] | None:
    """(rule, what was found) where another trial runs in this one's place: its stamps alone say so, never its patch."""
    protocol = setting.manifest.protocol
    if already >= protocol.replace_excluded or done.row["ended"] == "lost":
        return None
    stamps = [parse_stamp(text, "the journal") for text in done.stamps]
    return first_violation(stamps, done.row["attempts"], protocol)


def _drain(
    pool: ThreadPoolExecutor,
    work: Callable[[Pending], None],
    todo: Iterator[Pending],
    workers: int,
    over: Callable[[], bool],
) -> None:
    """Keep every worker busy in the registered order; the first error ends the campaign, others are let finish."""
    running: set[Future[None]] = set()
    error: BaseException | None = None
    while True:
        while error is None and not over() and len(running) < workers:
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
    """Rows of the trial tables of a plan, in key order: trials, patches, transcripts, stamps, calls, replaced."""
    names = ("trials", "patches", "transcripts", "stamps", "calls", "replaced")
    tables: dict[str, list[dict[str, Any]]] = {n: [] for n in names}
    for (item, arm, repeat), done in journal.load(plan_sha):
        key = {"item_id": item, "arm": arm, "repeat": repeat}
        tables["trials"].append({"replaced": 0} | done.row)  # journals of version 1 replaced nothing
        tables["patches"] += [{**key, **vars(change)} for change in done.changes]
        tables["transcripts"] += [
            {**key, "stream": name, "bytes_total": total, "content": content}
            for name, (total, content) in sorted(done.streams.items())
        ]
        tables["stamps"] += [{**key, "attempt": n, "stamp": text} for n, text in enumerate(done.stamps, start=1)]
        tables["calls"] += [
            {**key, "attempt": attempt, "call": n, "record": text}
            for attempt, calls in enumerate(done.calls, start=1)
            for n, text in enumerate(calls, start=1)
        ]
    for (item, arm, repeat), one in journal.replaced(plan_sha):
        row = one.done.row
        tables["replaced"].append(
            {
                **{"item_id": item, "arm": arm, "repeat": repeat, "number": one.number},
                **{"rule": one.rule, "found": one.found},
                **{name: row[name] for name in ("started_at", "ended", "attempts", "patch_sha256")},
                "stamps": canonical(one.done.stamps).decode(),
            }
        )
    return tables
