"""Harbor's trial and job folders (0.1x and 0.2x): `result.json` of each trial, set against what its job claims.

A trial's outcome is its reward: `reward`, the only one, or the one that `--filter` names; a fraction needs a threshold.
An agent that ran out of time is `timeout`, whatever its reward (then `late_pass`). An agent's exit code alone doesn't
decide: its reward stands. A verifier that ended without a reward is `broken`. Any other exception is `aborted`, `lost`
where declared, and a cancelled trial has no outcome. Trials of one task and agent are its repeats, by folder name.
What a job ran anew after an error has left no trace but a number: it is noted.

Wall time [s] is the agent's own. Times without a zone, as 0.1x wrote them, stay null. The session is what the agent's
trajectory says of the models that served it; no stamp of queue or retries is in these logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.ingest.folders import entries, json_object, plain, present, walk
from stages.ingest.harbor_facts import arm_of, model_of, served_models, task_of
from stages.ingest.harbor_job import check_job
from stages.ingest.harbor_outcome import check_disk, chosen, ended
from stages.ingest.lines import peek
from stages.ingest.model import Format, Notes, Options, Reading
from stages.ingest.values import (
    Facts,
    Trials,
    amount,
    count,
    graded,
    identity,
    label,
    mapping,
    moment,
    name,
    span,
    stratum,
    utc,
)

WHAT = "a Harbor trial or job folder, with result.json"
MAX_RESULT_BYTES = 32 * 1024 * 1024


def sniff(path: Path) -> bool:
    """Whether it is a trial's result, its folder, a job's folder, or a folder of jobs."""
    try:
        return _is_result(path) if path.is_file() else any(_is_result(one) for one in _candidates(path))
    except (OSError, InputError):
        return False


def _candidates(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    below = [one for one in entries(folder, WHAT)[:50] if one.is_dir() and not one.is_symlink()]
    return [folder / "result.json", *(one / "result.json" for one in below)]


def _is_result(path: Path) -> bool:
    head = peek(path) if path.name == "result.json" else b""
    return (b'"task_name"' in head and b'"trial_name"' in head) or (b'"n_total_trials"' in head and b'"stats"' in head)


def read(paths: Sequence[Path], options: Options, notes: Notes) -> Reading:
    """Rows of all trials below the paths. Raises InputError naming the file."""
    trials, facts = Trials(), Facts()
    seen: dict[str, dict[str, Any]] = {}
    names: dict[str, str] = {}  # a task as configured, and what its results call it
    for source, path in enumerate(paths):
        present(path, WHAT)
        root = path.parent if path.name == "result.json" and not path.is_dir() else path
        jobs: list[tuple[Path, dict[str, Any]]] = []
        rewards: dict[Path, dict[str, Any]] = {}
        unended: list[Path] = []
        for folder in walk(root, 3, WHAT, notes, lambda one: not _is_trial(one)):
            if plain(folder / "result.json"):
                result, data = json_object(folder / "result.json", MAX_RESULT_BYTES, WHAT)
                if "trial_name" in result or "task_name" in result:
                    digest = sha256(data)
                    if digest in seen:
                        trials.later("nested_copies", "results whose bytes were read already", folder.name)
                    else:
                        seen[digest] = _trial(folder, result, source, trials, facts, names, options, notes)
                    rewards[folder] = seen[digest]
                elif "n_total_trials" in result or "stats" in result:
                    jobs.append((folder, result))
                else:
                    raise InputError(folder / "result.json", "is of no trial and no job", WHAT)
            elif _is_trial(folder):
                unended.append(folder)
        for folder in unended:
            _without_result(folder, source, trials, names)
        if not rewards and not unended:
            raise InputError(path, "holds no trial", WHAT)
        for folder, result in jobs:
            started = sum(one.is_relative_to(folder) for one in unended)
            own = {id(r): (f, r) for f, r in reversed(rewards.items()) if f.is_relative_to(folder)}  # copies once
            check_job(folder, result, dict(own.values()), started, notes)
        trials.note(notes, path.name)
    return Reading(trials.table(), facts=facts.made())


def _is_trial(folder: Path) -> bool:
    """Whether a folder is one trial's: nothing of the log is below it but what the agent and verifier left."""
    return b'"trial_name"' in peek(folder / "result.json") or b'"trial_name"' in peek(folder / "config.json")


def _trial(
    folder: Path,
    result: dict[str, Any],
    source: int,
    trials: Trials,
    facts: Facts,
    names: dict[str, str],
    options: Options,
    notes: Notes,
) -> dict[str, Any]:
    """Add one trial; returns what its job's totals are set against."""
    where = f"{folder.name}/result.json"
    item = name(where, result.get("task_name"), "task_name")
    config = mapping(where, result.get("config"), "config")
    names[task_of(where, config)] = item
    arm = arm_of(where, result, config, facts)
    rewards = mapping(where, mapping(where, result.get("verifier_result"), "verifier_result").get("rewards"), "rewards")
    key, reward = chosen(where, rewards, options.filter)
    status, why, score = graded(where, reward, options.threshold, f"reward {key}")
    check_disk(folder, item, key, reward, notes)
    error = mapping(where, result.get("exception_info"), "exception_info")
    kind = label(where, error.get("exception_type"), "exception_type") or ("exception" if error else None)
    status, reason, late = ended(where, status, why, kind, error, options)
    agent = mapping(where, result.get("agent_execution"), "agent_execution")
    used = mapping(where, result.get("agent_result"), "agent_result")
    served = served_models(folder)
    trial_id = identity(where, result.get("id"), "id")
    trials.add(
        trial_id or f"{source}:{folder}",
        item_id=item,
        arm=arm,
        stratum=stratum(where, result, options.strata),
        trial=trial_id,
        status=status,
        reason=reason,
        late_pass=late,
        score=score,
        wall_s=span(
            moment(where, agent.get("started_at"), "started_at"), moment(where, agent.get("finished_at"), "finished_at")
        ),
        started_at=utc(moment(where, result.get("started_at"), "started_at")),
        item_digest=identity(where, result.get("task_checksum"), "task_checksum"),
        evidence="exported" if served else None,
        served_model=served,
        requested_model=model_of(where, config),
        input_tokens=count(where, used.get("n_input_tokens"), "n_input_tokens"),
        output_tokens=count(where, used.get("n_output_tokens"), "n_output_tokens"),
        cost_usd=amount(where, used.get("cost_usd"), "cost_usd"),
        source=source,
        line=trials.count + 1,
    )
    return {"rewards": rewards, "error": kind}


def _without_result(folder: Path, source: int, trials: Trials, names: dict[str, str]) -> None:
    """A trial that was started and has no result: it has no outcome."""
    where = f"{folder.name}/config.json"
    config, _ = json_object(folder / "config.json", MAX_RESULT_BYTES, WHAT)
    task = task_of(where, config)
    item = names.get(task) or name(where, task.rstrip("/").rpartition("/")[2], "the task's path")
    trials.later("unfinished_run", "trials that were started and have no result.json", item)
    arm = arm_of(where, {}, config, Facts())
    reason = "no result.json: the trial didn't end"
    trials.add(f"{source}:{folder}", item_id=item, arm=arm, reason=reason, source=source, line=trials.count + 1)


FORMAT = Format("harbor", sniff, read, both_arms=True)
