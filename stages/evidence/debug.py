"""A trial entered again by hand, outside the journal: nothing of it counts."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import cast

from stages.arms import ArmName, Setting, prepare, recording, refuse_trial, replayed, start_trial, unpredicted
from stages.contract import layout
from stages.contract.errors import UsageError
from stages.contract.study import entries, read_admitted, read_frozen, read_manifest, read_params, read_plan
from stages.sandbox import environments, find, remove_tree, require
from stages.session import first_violation, parse_stamp


def debug_trial(
    root: Path, item_id: str, arm: str, repeat: int, *, shell_only: bool, say: Callable[[str], None]
) -> int:
    """Run a trial (or open a shell in its workspace) and print what it did, with its verdict. Returns an exit code."""
    plan, manifest = read_plan(root), read_manifest(root)
    items = {i.item_id: i for i in plan.items}
    if item_id not in items or arm not in ("candidate", "control") or not 0 <= repeat < plan.trial_budget:
        raise UsageError(
            f"{item_id} {arm} {repeat}",
            "no such trial in the plan",
            f"an item of the pack, candidate or control, a repeat from 0 to {plan.trial_budget - 1}",
        )
    files = entries(read_frozen(root, plan, layout.TREES))
    isolation = require(plan.isolation, read_params(root).run.allow_no_isolation, root)
    setting = Setting(
        root=root,
        plan=plan,
        manifest=manifest,
        isolation=isolation,
        trees={item_id: files[(item_id, "workspace")]},
        statements={item_id: files[(item_id, "statement")][0].content},
        versions={},
        plan_sha256=plan.sha256(),
        environments=environments(root, [items[item_id]], files, isolation),
        manifest_sha256=manifest.sha256(),
    )
    name = cast(ArmName, arm)
    if setting.arm(name).replayed:
        predictions = {key: found for key, found in replayed(root, plan).items() if key == arm}
        if (item_id, arm, repeat) in unpredicted(plan, predictions):
            raise UsageError(f"{item_id} {arm} {repeat}", f"{predictions[arm].path} has no prediction of it", "one")
        setting = dataclasses.replace(setting, predictions=predictions)
    if not shell_only:
        refuse_trial(plan, name, item_id)
    else:
        setting = dataclasses.replace(setting, isolation=find("none"))
        place = prepare(setting, items[item_id], name, repeat)
        try:
            what = f"the agent would be called as {place.argv}" if place.argv else "its patch isn't applied"
            say(f"a shell in the trial's workspace, without isolation; {what}")
            env = {**os.environ, **place.env, "PS1": f"({item_id}) "}
            return subprocess.call([os.environ.get("SHELL", "/bin/sh")], cwd=place.workspace, env=env)
        finally:
            remove_tree(place.base)
    with recording(plan.arms, say, name) as (recorders, terms):
        setting = dataclasses.replace(setting, recorders=recorders, access_terms=terms)
        done = start_trial(setting, name, item_id, repeat, 0, 0, 0)
    for stream in ("stdout", "stderr"):
        sys.stdout.write(done.streams[stream][1].decode("utf-8", "backslashreplace"))
    row = done.row
    why = f" ({row['reason']})" if row["reason"] else ""
    say(f"ended {row['ended']}{why}, exit code {row['exit_code']}, {row['wall_s']:.2f} s, {len(done.changes)} changes")
    if recorders:
        found = first_violation([parse_stamp(s, "stamp") for s in done.stamps], row["attempts"], manifest.protocol)
        inside = f"outside the envelope: {found[0]}, {found[1]}" if found else "inside the envelope"
        say(f"{sum(map(len, done.calls))} calls recorded, {inside}")
    for change in done.changes:
        say(f"  {change.op} {change.path}")
    if (root / layout.ADMITTED).exists():
        from stages.oracle import Bench, VerdictStore

        bench = Bench.open(root, plan, setting.isolation, read_admitted(root)["items"], manifest.oracle)
        with tempfile.TemporaryDirectory(prefix="wb-") as folder:  # what is seen here never becomes a stored verdict
            bench = dataclasses.replace(bench, store=VerdictStore(Path(folder) / "verdicts.sqlite"))
            seen = bench.verdict(item_id, done.changes)
        say(f"verdict {seen.verdict}: {seen.reason}")
    return 0
