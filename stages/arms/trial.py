"""One trial: a fresh workspace, one agent, the patch that it leaves. Blind to arm, oracle, allowlist and pack."""

from __future__ import annotations

import json
import os
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from stages.arms.installed import fill, install_digest, install_folders
from stages.arms.journal import Finished
from stages.arms.line import Line, secrets_of, without
from stages.contract import limits
from stages.contract.arm import drawn_seed
from stages.contract.digest import canonical, rational_text, sha256
from stages.contract.plan import Manifest, Plan, PlanItem
from stages.contract.predictions import Predictions
from stages.contract.protocol import Arm
from stages.contract.stamp import AccessTerms, Call
from stages.contract.trees import Change, Entry, patch_digest
from stages.contract.types import plain
from stages.sandbox import (
    ENVIRONMENT,
    HOME,
    WORKSPACE,
    Isolation,
    Outcome,
    TreeTooLarge,
    compare,
    export,
    read_tree,
    remove_tree,
    run,
)
from stages.session import agent_variables, local_stamp, provider_error, stamp_of

if TYPE_CHECKING:
    from stages.session.recorder import Recorder

ArmName = Literal["candidate", "control"]


@dataclass(frozen=True)
class Setting:
    """What all trials of a campaign share. `trees` maps item ids to frozen workspaces, `statements` to their text.

    `environments` maps the items that have one to where their wheels are installed, `recorders` the arms that have a
    session to what records it, `predictions` those that are replayed to their patches.
    """

    root: Path
    plan: Plan
    manifest: Manifest
    isolation: Isolation
    trees: dict[str, list[Entry]]
    statements: dict[str, bytes]
    versions: dict[str, str | None]
    plan_sha256: str
    manifest_sha256: str
    environments: dict[str, Path] = field(default_factory=dict)
    recorders: dict[str, Recorder] = field(default_factory=dict)
    access_terms: dict[str, AccessTerms] = field(default_factory=dict)
    max_cost: Fraction | None = None
    predictions: dict[str, Predictions] = field(default_factory=dict)

    def arm(self, name: ArmName) -> Arm:
        return self.plan.arms.candidate if name == "candidate" else self.plan.arms.control

    def item(self, item_id: str) -> PlanItem:
        return next(i for i in self.plan.items if i.item_id == item_id)


@dataclass(frozen=True)
class Place:
    """A trial made ready: where it lies, and what its agent is called with."""

    base: Path
    workspace: Path
    argv: list[str]
    env: dict[str, str]
    read_only: list[tuple[Path, str]]


def trial_seed(arm: Arm, item_id: str, repeat: int) -> int | None:
    """The trial's own seed, or None where the arm declares none."""
    return None if arm.seed is None else drawn_seed(arm.seed, item_id, repeat)


def temperature_text(arm: Arm) -> str:
    """As recorded: a number, `hidden` if the vendor hides it, `undeclared` if the arm says nothing."""
    if isinstance(arm.temperature, Fraction):
        return rational_text(arm.temperature)
    return arm.temperature or "undeclared"


def prepare(setting: Setting, item: PlanItem, name: ArmName, repeat: int, base_url: str | None = None) -> Place:
    """Export the workspace into a fresh random folder and put the agent's call together.

    `base_url` is where the agent finds its provider: the recorder.
    """
    arm = setting.arm(name)
    base = Path(tempfile.mkdtemp(prefix="", suffix=""))
    workspace, task, home = base / "ws", base / "task", base / "home"
    for folder in (workspace, task, home):
        folder.mkdir()
    export(setting.trees[item.item_id], workspace, git=True)
    statement = setting.statements[item.item_id]
    (task / "statement.md").write_bytes(statement)
    interface = plain(item.interface) if item.interface else {"module": None, "function": None, "signature": None}
    (task / "interface.json").write_text(json.dumps(interface, indent=2) + "\n", encoding="utf-8")
    folders = install_folders(setting.root, arm, f"arms.{name}")
    wheels = setting.environments.get(item.item_id)
    read_only = [(task, "/task"), *folders] if setting.isolation.tier != "none" else []
    if read_only and wheels is not None:
        read_only.append((wheels, ENVIRONMENT))
    put = setting.isolation.place
    seed = trial_seed(arm, item.item_id, repeat)
    values = {
        "statement": statement.decode("utf-8"),
        "statement_file": put(task / "statement.md", "/task/statement.md"),
        "interface_file": put(task / "interface.json", "/task/interface.json"),
        "workspace": put(workspace, WORKSPACE),
        "seed": "" if seed is None else str(seed),
        "temperature": temperature_text(arm) if isinstance(arm.temperature, Fraction) else "",
        "model": arm.model or "",
        "install": put(*folders[0]) if folders else "",
        "environment": "" if wheels is None else put(wheels, ENVIRONMENT),
        "home": put(home, HOME),
        "base_url": base_url or "",
    }
    env = {f"WEIGHBRIDGE_{key.upper()}": value for key, value in values.items()} | {"HOME": values["home"]}
    if arm.session is not None and base_url is not None:
        env.update(agent_variables(arm.session.provider, base_url))
    env.update({key: fill(text, values) for key, text in arm.variables.items()})
    env.update({key: os.environ[key] for key in arm.env if key in os.environ})
    return Place(base, workspace, [fill(word, values) for word in arm.command], env, read_only)


def run_trial(
    setting: Setting, name: ArmName, item_id: str, repeat: int, block: int, position: int, interrupted: int
) -> Finished:
    """Run one trial, with the retries that its harness faults allow, and return all that it left."""
    item, arm = setting.item(item_id), setting.arm(name)
    folders = install_folders(setting.root, arm, f"arms.{name}")
    before = install_digest(folders)
    stamps: list[str] = []
    calls: list[list[Call]] = []
    attempt = 0
    while True:
        attempt += 1
        due, clock = datetime.now(UTC), time.monotonic()
        line = Line.open(setting, name)
        place = prepare(setting, item, name, repeat, line.base_url if line else None)
        try:
            queue_ms = 1000 * (time.monotonic() - clock)
            started = datetime.now(UTC)
            outcome = run(
                place.argv,
                isolation=setting.isolation,
                workspace=place.workspace,
                workspace_writable=True,
                read_only=place.read_only,
                env=place.env,
                timeout_s=float(item.time_budget_s),
                output_cap=limits.TRANSCRIPT_BYTES,
                serve=line.serve if line else None,
            )
            calls.append(line.close() if line else [])
            if line:
                terms = setting.access_terms.get(name)
                where = (item_id, name, repeat, attempt)
                stamp = stamp_of(*where, calls[-1], started_at=started, evidence="recorded", access_terms=terms)
            else:
                stamp = local_stamp(item_id, name, repeat, attempt, due, queue_ms)
            stamps.append(canonical(plain(stamp)).decode())
            if outcome.launch_failed and attempt <= setting.plan.retry_ceiling:
                continue
            changes, too_large = patch_left(setting.trees[item_id], place.workspace)
        finally:
            if line:
                line.close()
            remove_tree(place.base)
        break
    ended, reason = _end(outcome, too_large, provider_error(calls[-1]))
    hidden = secrets_of(arm)
    streams = {
        "stdout": (outcome.stdout_total, without(outcome.stdout, hidden)),
        "stderr": (outcome.stderr_total, without(outcome.stderr, hidden)),
    }
    row = {
        **named(setting, item, name, repeat),
        **{"block": block, "position": position},
        **{"ended": ended, "reason": reason},
        **measured(outcome),
        "started_at": moment(started),
        "attempts": attempt,
        "interrupted": interrupted,
        **left(changes, streams),
        "install_before": before,
        "install_after": install_digest(folders),
        "limits": canonical(dict(outcome.limits)).decode(),
    }
    return Finished(row, stamps, changes, streams, [[canonical(plain(call)).decode() for call in one] for one in calls])


Streams = dict[str, tuple[int, bytes]]


def named(setting: Setting, item: PlanItem, name: ArmName, repeat: int) -> dict[str, Any]:
    """Columns of a trial's row that are known before it starts: which trial, of which plan."""
    arm = setting.arm(name)
    seed = trial_seed(arm, item.item_id, repeat)
    return {
        "item_id": item.item_id,
        "arm": name,
        "repeat": repeat,
        "load_1m": round(os.getloadavg()[0], 3),
        "time_budget_s": item.time_budget_s,
        "temperature": temperature_text(arm),
        "seed": None if seed is None else str(seed),
        "arm_name": arm.name,
        "arm_version": arm.version,
        "version_said": setting.versions.get(name),
        "isolation": setting.isolation.tier,
        "plan_sha256": setting.plan_sha256,
        "pack_sha256": setting.manifest.pack_sha256,
        "slice_id": setting.manifest.slice_id,
        "study_id": setting.manifest.study_id,
        "manifest_sha256": setting.manifest_sha256,
    }


def measured(outcome: Outcome) -> dict[str, Any]:
    """Columns that a launch gives."""
    return {
        "exit_code": outcome.exit_code,
        "wall_s": round(outcome.wall_s, 6),
        "cpu_s": None if outcome.cpu_s is None else round(outcome.cpu_s, 6),
        "max_rss_kb": outcome.max_rss_kb,
    }


def left(changes: list[Change], streams: Streams) -> dict[str, Any]:
    """Columns about what a trial left: its patch, and what was printed."""
    return {
        "patch_sha256": patch_digest(changes),
        "patch_files": len(changes),
        "transcript_sha256": sha256(streams["stdout"][1] + b"\0" + streams["stderr"][1]),
    }


def moment(at: datetime) -> str:
    """A time as the tables hold it."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def patch_left(frozen: list[Entry], workspace: Path) -> tuple[list[Change], str | None]:
    """The patch, or none and why it is too large to keep."""
    try:
        changes = compare(frozen, read_tree(workspace, skip_git=True))
    except TreeTooLarge as error:
        return [], str(error)
    size = sum(len(c.content or b"") for c in changes)
    if size > limits.PATCH_BYTES:
        return [], f"a patch of {size:,} bytes, at most {limits.PATCH_BYTES:,}"
    return changes, None


def _end(outcome: Outcome, too_large: str | None, provider: str | None) -> tuple[str, str | None]:
    if outcome.launch_failed:
        return "lost", f"harness fault: {outcome.launch_failed}"
    if outcome.leftover:  # it may have written while its tree was read
        return "aborted", f"{outcome.leftover} processes of the agent could not be killed"
    if outcome.timed_out:
        return "timeout", "the time budget was used up"
    if outcome.stopped:
        return "aborted", outcome.stopped
    if too_large:
        return "aborted", f"patch_too_large: {too_large}"
    if provider:
        return "aborted", provider
    # How the agent ended is recorded and doesn't decide: the oracle judges the tree that it left.
    notes = [f"ended by signal {outcome.signal}"] if outcome.signal is not None else []
    if outcome.oom_kills:
        notes.append(f"{outcome.oom_kills} processes killed at the memory limit")
    return "completed", ", ".join(notes) or None
