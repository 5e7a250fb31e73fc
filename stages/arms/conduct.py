"""A campaign from its first question to its last trial: may it start, is it on record, what is left of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stages.arms.campaign import Judge, Progress, pending, refuse_spending, run_campaign
from stages.arms.installed import check_runner
from stages.arms.journal import Journal
from stages.arms.record import make_record
from stages.arms.recording import recording
from stages.arms.replay import check_git, replayed, said_of, unpredicted
from stages.arms.spent import Spent
from stages.arms.trial import Setting
from stages.contract import layout
from stages.contract.plan import Manifest, Plan
from stages.contract.protocol import Params
from stages.contract.study import entries, read_frozen
from stages.sandbox import Isolation, environments, require


@dataclass(frozen=True)
class Campaign:
    """What a campaign is conducted with. `admitted` is preflight's word on each item, `events` those that stand."""

    root: Path
    plan: Plan
    manifest: Manifest
    params: Params
    admitted: dict[str, Any]
    events: list[str]
    journal: Journal
    say: Callable[[str], None]


def conduct(
    go: Campaign,
    judge: Callable[[Isolation], Judge],
    progress: Callable[[str, Callable[[str], None]], AbstractContextManager[Progress]],
) -> None:
    """Run what is left of the campaign. Raises SpendRefused, or InputError where it may not start."""
    plan_sha = go.plan.sha256()
    known = {c["plan"]: c for c in go.journal.campaigns()}
    if known.get(plan_sha, {}).get("stopped"):
        go.say(f"this campaign was stopped ({known[plan_sha]['stopped']}): no further trial starts")
        return
    skip = {item for item, entry in go.admitted.items() if not entry["admitted"]}
    predictions = replayed(go.root, go.plan)
    for line in said_of(go.plan, predictions, skip):
        go.say(line)
    todo = pending(go.plan, go.journal.finished(plan_sha), skip, unpredicted(go.plan, predictions))
    if plan_sha in known and not todo:
        return
    isolation = _isolation(go)
    refuse_spending(go.plan, todo)
    early = sorted(item for item, entry in go.admitted.items() if entry.get("placebo_passed"))
    versions: dict[str, str | None] = {}
    for name, arm in (("candidate", go.plan.arms.candidate), ("control", go.plan.arms.control)):
        if not early and not arm.replayed:
            versions[name] = check_runner(go.root, arm, name, isolation, go.say)
    if predictions and not early:
        check_git(isolation)
    if plan_sha not in known:
        _open(go, plan_sha, isolation)
    if early:
        go.journal.stop(plan_sha, f"placebo_passed: {early[0]} passes on the untouched workspace")
        go.say(f"placebo {early[0]} passes on the untouched workspace: no arm is started")
        return
    workers = (os.cpu_count() or 1) if go.params.run.workers == "auto" else go.params.run.workers
    with recording(go.plan.arms, go.say) as (recorders, terms):
        setting = _setting(go, plan_sha, isolation, versions)
        setting = replace(setting, recorders=recorders, access_terms=terms, predictions=predictions)
        with progress("trials", go.say) as tick:
            stopped = run_campaign(setting, go.journal, workers, skip, judge(isolation), tick)
    if stopped:
        go.say(f"stopped: {stopped}; nothing more is spent on this campaign")
    _say_prices(go, plan_sha)
    for side in ("candidate", "control"):
        codes = [done.row["exit_code"] for key, done in go.journal.load(plan_sha) if key[1] == side]
        odd = sum(code != 0 for code in codes)
        if odd and side not in predictions:
            go.say(f"{side}: {odd} of {len(codes)} trials ended with an exit code other than 0 (`weighbridge show`)")


def recorded(journal: Journal, plan_sha: str) -> dict[str, Any]:
    """The campaign's record as it was written before its first trial, and why it stopped, if it did."""
    row = next(c for c in journal.campaigns() if c["plan"] == plan_sha)
    return {**row["record"], "stopped": row["stopped"]}


def _isolation(go: Campaign) -> Isolation:
    isolation = require(go.plan.isolation, go.params.run.allow_no_isolation, go.root)
    if isolation.tier == "none":
        go.say(f"no isolation here ({isolation.why}): agents can read this machine, and the decision will be withheld")
    return isolation


def _open(go: Campaign, plan_sha: str, isolation: Isolation) -> None:
    how = {"events": go.events, "pack_path": go.params.pack.path}
    record = make_record(go.root, go.plan, go.manifest, go.journal, isolation, how, go.say)
    if record["look"] > 1:
        go.say(f"this is look {record['look']} at these arms on this pack, and spends its own, smaller alpha")
    go.journal.open_campaign(
        {
            "plan": plan_sha,
            "pack_id": go.plan.pack_id,
            "pack_revision": go.plan.pack_revision,
            "campaign": go.plan.campaign,
            "slice": go.manifest.slice_id,
            "control": go.plan.arms.control.name,
            "candidate": go.plan.arms.candidate.name,
            "started_at": record["started_at"],
            "record": record,
        }
    )


def _setting(go: Campaign, plan_sha: str, isolation: Isolation, versions: dict[str, str | None]) -> Setting:
    files = entries(read_frozen(go.root, go.plan, layout.TREES))
    wheels = environments(go.root, go.plan.items, files, isolation)
    return Setting(
        root=go.root,
        plan=go.plan,
        manifest=go.manifest,
        isolation=isolation,
        trees={i.item_id: files[(i.item_id, "workspace")] for i in go.plan.items},
        statements={i.item_id: files[(i.item_id, "statement")][0].content for i in go.plan.items},
        versions=versions,
        plan_sha256=plan_sha,
        manifest_sha256=go.manifest.sha256(),
        environments=wheels,
        max_cost=go.params.run.max_cost,
    )


def _say_prices(go: Campaign, plan_sha: str) -> None:
    """Say where a limit on the cost couldn't be held, since calls carry no price."""
    spent = Spent(go.params.run.max_cost, (done for _, done in go.journal.load(plan_sha)))
    if spent.most is not None and spent.untold:
        go.say(f"run.max_cost: {spent.untold} calls carry no price, so what they cost isn't counted")
