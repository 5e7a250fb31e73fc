"""A trial that starts no agent: the patch that was predicted for its item is applied to a fresh workspace."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path

from stages.arms.installed import install_digest
from stages.arms.journal import Finished, Key
from stages.arms.trial import ArmName, Setting, Streams, left, measured, moment, named, patch_left, run_trial
from stages.contract import limits
from stages.contract.errors import InputError, one_line
from stages.contract.plan import Plan
from stages.contract.predictions import ARMS, Predictions, read_predictions
from stages.contract.trees import Change
from stages.sandbox import Isolation, Outcome, export, remove_tree, run

_APPLY_S = 60.0
_PATCH = "/task/model.patch"
_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CEILING_DIRECTORIES": "/",
    "LC_ALL": "C",
}


def replayed(root: Path, plan: Plan) -> dict[str, Predictions]:
    """Arm to what its file predicts, of the arms that are replayed. Raises InputError where it isn't the frozen one."""
    arms = {name: getattr(plan.arms, name) for name in ARMS}
    return {name: read_predictions(root, arm) for name, arm in arms.items() if arm.replayed}


def unpredicted(plan: Plan, predictions: Mapping[str, Predictions]) -> set[Key]:
    """Planned trials that their file predicts nothing for: they stay missing. A placebo's is an unchanged tree."""
    return {
        (item.item_id, name, repeat)
        for name, found in predictions.items()
        for item in plan.items
        for repeat in range(plan.trial_budget)
        if not item.placebo and found.patch(item.item_id, repeat) is None
    }


def unplanned(plan: Plan, found: Predictions) -> list[str]:
    """Ids in the file that are no items of the pack."""
    return sorted(found.items - {item.item_id for item in plan.items})


def check_git(isolation: Isolation) -> None:
    """Raise InputError where git can't be started inside the sandbox."""
    with tempfile.TemporaryDirectory(prefix="wb-") as base:
        done = run(["git", "--version"], isolation=isolation, workspace=Path(base), env=_ENV, timeout_s=60.0)
    if done.launch_failed or done.exit_code != 0:
        why = done.launch_failed or "can't be started where patches are applied"
        raise InputError("git", why, "git on PATH, of the system's own", "install it")


def start_trial(
    setting: Setting, name: ArmName, item_id: str, repeat: int, block: int, position: int, interrupted: int
) -> Finished:
    """Run one trial: its agent, or the replay of its patch."""
    start = replay_trial if setting.arm(name).replayed else run_trial
    return start(setting, name, item_id, repeat, block, position, interrupted)


def replay_trial(
    setting: Setting, name: ArmName, item_id: str, repeat: int, block: int, position: int, interrupted: int
) -> Finished:
    """Apply one patch with `git apply`, and return all that it left. No stamp: nobody saw the session.

    A patch that doesn't apply as a whole leaves nothing, and its trial is aborted.
    """
    item, patch = setting.item(item_id), setting.predictions[name].patch(item_id, repeat) or b""
    changes: list[Change] = []
    outcome: Outcome | None = None
    attempt, ended, reason, started = 1, "completed", None, datetime.now(UTC)
    if len(patch) > limits.PATCH_BYTES:
        ended, reason = "aborted", f"patch_too_large: a diff of {len(patch):,} bytes, at most {limits.PATCH_BYTES:,}"
    elif patch.strip():
        outcome, changes, too_large = _apply(setting, item_id, patch)
        while outcome.launch_failed and attempt <= setting.plan.retry_ceiling:
            attempt, started = attempt + 1, datetime.now(UTC)
            outcome, changes, too_large = _apply(setting, item_id, patch)
        ended, reason = _end(outcome, too_large)
    if ended != "completed":
        changes = []
    streams: Streams = {
        "stdout": (outcome.stdout_total, outcome.stdout) if outcome else (0, b""),
        "stderr": (outcome.stderr_total, outcome.stderr) if outcome else (0, b""),
    }
    nothing = {"exit_code": None, "wall_s": 0.0, "cpu_s": None, "max_rss_kb": None}
    row = {
        **named(setting, item, name, repeat),
        **{"block": block, "position": position},
        **{"ended": ended, "reason": reason},
        **(measured(outcome) if outcome else nothing),
        "started_at": moment(started),
        "attempts": attempt,
        "interrupted": interrupted,
        **left(changes, streams),
        "install_before": install_digest([]),
        "install_after": install_digest([]),
        "limits": "{}",
    }
    return Finished(row, [], changes, streams)


def _apply(setting: Setting, item_id: str, patch: bytes) -> tuple[Outcome, list[Change], str | None]:
    """What git did with the patch, what changed in the workspace, and why that is too large to keep, if it is."""
    base = Path(tempfile.mkdtemp(prefix="", suffix=""))
    workspace, task = base / "ws", base / "task"
    try:
        task.mkdir()
        export(setting.trees[item_id], workspace, git=False)
        (task / "model.patch").write_bytes(patch)
        shown = [(task, "/task")] if setting.isolation.tier != "none" else []
        file = setting.isolation.place(task / "model.patch", _PATCH)
        outcome = run(
            ["git", "-c", "core.hooksPath=/dev/null", "apply", "--whitespace=nowarn", file],
            isolation=setting.isolation,
            workspace=workspace,
            workspace_writable=True,
            read_only=shown,
            env=_ENV | ({"GIT_CEILING_DIRECTORIES": str(base)} if setting.isolation.tier == "none" else {}),
            timeout_s=_APPLY_S,
            output_cap=limits.TRANSCRIPT_BYTES,
        )
        changes, too_large = patch_left(setting.trees[item_id], workspace)
    finally:
        remove_tree(base)
    return outcome, changes, too_large


def _end(outcome: Outcome, too_large: str | None) -> tuple[str, str | None]:
    if outcome.launch_failed:
        return "lost", f"harness fault: {outcome.launch_failed}"
    if outcome.leftover:
        return "aborted", f"{outcome.leftover} processes of git could not be killed"
    if outcome.timed_out:
        return "aborted", f"patch_does_not_apply: git apply took longer than {_APPLY_S:.0f} s"
    if outcome.stopped:
        return "aborted", outcome.stopped
    if too_large:
        return "aborted", f"patch_too_large: {too_large}"
    if outcome.exit_code != 0:
        said = outcome.stderr.decode("utf-8", "replace").splitlines()
        first = next((line.partition("error: ")[2] for line in said if line.startswith("error: ")), "")
        why = first or f"git apply ended with {outcome.exit_code if outcome.signal is None else outcome.signal}"
        return "aborted", f"patch_does_not_apply: {one_line(why)}"
    return "completed", None


def said_of(plan: Plan, predictions: Mapping[str, Predictions], skip: Collection[str]) -> list[str]:
    """Lines about files of predictions: what is replayed, and what isn't in the file, or isn't in the pack."""
    lines = []
    for name, found in predictions.items():
        arm = getattr(plan.arms, name)
        lines.append(f"arm {name}: replays {found.path} ({found.sha256[:16]}); its version {arm.version} is on trust")
        odd = unplanned(plan, found)
        if odd:
            lines.append(f"arm {name}: {len(odd)} ids in {found.path} aren't in the pack: {_some(odd)}")
        lacking = sorted(key for key in unpredicted(plan, {name: found}) if key[0] not in skip)
        if lacking:
            items = list(dict.fromkeys(item for item, _, _ in lacking))
            lines.append(f"arm {name}: {len(lacking)} trials have no prediction and stay missing: {_some(items)}")
    return lines


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(one_line(name, 100) for name in names[:5]) + more
