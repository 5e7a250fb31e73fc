"""Terminal-Bench's results (0.2 of the `tb` harness): `results.json` of a run, of each trial, and `run_metadata.json`.

The outcome is `is_resolved`; null is no outcome, though the harness's own accuracy counts it as a failure. By
`failure_mode`: an agent out of time is `timeout` (`late_pass` if resolved); tests that ran out of time or couldn't be
parsed leave a verdict of false standing and are `broken` without one; a full context or output keeps its verdict;
any other is `aborted`, `lost` where declared. A run's list is what counts; a trial's own file is read where the list
lacks it, and set against it where not. Trials of one task are its repeats, in the log's order.

Wall time [s] is the agent's own, where both of its times are there. Nothing in these logs speaks of the session.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.contract.text import kind
from stages.ingest.folders import json_object, plain, present, walk
from stages.ingest.lines import finite, peek
from stages.ingest.model import Format, Notes, Options, Reading
from stages.ingest.terminal_bench_totals import check_run
from stages.ingest.values import (
    Facts,
    Trials,
    clean,
    count,
    identity,
    infrastructure,
    label,
    mapping,
    moment,
    name,
    span,
    stratum,
    utc,
)

WHAT = "Terminal-Bench results: a run's folder or its results.json"
MAX_BYTES = 256 * 1024 * 1024
_RUN_IN_NAME = re.compile(r"\.\d+-of-\d+\..+")
_FINE = (None, "unset", "none")
_OF_TESTS = ("test_timeout", "parse_error")
_LIMITS = ("context_length_exceeded", "output_length_exceeded")


def sniff(path: Path) -> bool:
    """Whether it is a run's or trial's results.json, or a folder that has one at most three folders below."""
    if path.is_file():
        head = peek(path) if path.name == "results.json" else b""
        return b'"is_resolved"' in head and b'"failure_mode"' in head
    try:
        folders = walk(path, 3, WHAT, Notes(), lambda _: True) if path.is_dir() else iter(())
        return any(sniff(one / "results.json") for one, _ in zip(folders, range(200), strict=False))
    except InputError:
        return False


def read(paths: Sequence[Path], options: Options, notes: Notes) -> Reading:
    """Rows of all runs below the paths. Raises InputError naming file and row."""
    trials, facts = Trials(), Facts()
    seen: set[str] = set()
    for source, path in enumerate(paths):
        present(path, WHAT)
        before, said = trials.count, trials.said
        runs: dict[Path, dict[str, Any]] = {}  # a run's folder to the outcomes that its list has
        if not path.is_dir():
            _file(path, path.parent, source, runs, trials, facts, seen, options, notes)
        else:
            for folder in walk(path, 6, WHAT, notes, lambda _: True):
                if plain(folder / "results.json"):
                    _file(folder / "results.json", folder, source, runs, trials, facts, seen, options, notes)
        if trials.count == before and trials.said == said:
            raise InputError(path, "holds no trial", WHAT)
        trials.note(notes, path.name)
    return Reading(trials.table(), facts=facts.made())


def _file(
    path: Path,
    folder: Path,
    source: int,
    runs: dict[Path, dict[str, Any]],
    trials: Trials,
    facts: Facts,
    seen: set[str],
    options: Options,
    notes: Notes,
) -> None:
    """Add what one results.json holds."""
    found, data = json_object(path, MAX_BYTES, WHAT)
    if sha256(data) in seen:
        trials.later("nested_copies", "results whose bytes were read already", folder.name)
        return
    seen.add(sha256(data))
    if "results" in found:
        rows = found["results"]
        if not isinstance(rows, list):
            raise InputError(path, f"its results are {kind(rows)}", "a list")
        meta = _metadata(folder)
        arm = _arm(folder.name, meta, facts)
        listed = runs.setdefault(folder, {})
        for number, row in enumerate(rows, 1):
            where = f"{folder.name}/{path.name}: row {number}"
            if not isinstance(row, dict):
                raise InputError(where, f"is {kind(row)}", "an object")
            called = _add(where, row, f"{source}:{folder}", arm, source, number, trials, options)
            listed[called] = row.get("is_resolved")
        check_run(f"{folder.name}/{path.name}", found, meta, rows, notes)
    elif "trial_name" in found:
        where = f"{folder.name}/{path.name}"
        run = next((one for one in (folder, *folder.parents) if one in runs), None)
        called = name(where, found.get("trial_name"), "trial_name")
        if run is not None and called in runs[run]:
            if runs[run][called] == found.get("is_resolved"):
                return  # what the harness writes twice
            trials.later("total_disagrees", "trials whose own outcome isn't the one in their run's list", called)
        elif run is not None:
            trials.later("unfinished_run", "trials that aren't in their run's list", called)
        else:
            trials.later("unfinished_run", "trials whose run has no list", called)
        meta = _metadata(run or _run_above(folder))
        _add(where, found, f"{source}:{run}", _arm(where, meta, facts), source, trials.count + 1, trials, options)
    else:
        raise InputError(path, "is of no run and no trial", WHAT)


def _run_above(folder: Path) -> Path:
    """The nearest of a trial's folders that has metadata of a run; its own if none has."""
    above = [folder, *list(folder.parents)[:2]]
    return next((one for one in above if (one / "run_metadata.json").is_file()), folder)


def _metadata(folder: Path) -> dict[str, Any]:
    path = folder / "run_metadata.json"
    return json_object(path, 16 * 1024 * 1024, "a run's metadata")[0] if plain(path) else {}


def _arm(where: str, meta: dict[str, Any], facts: Facts) -> str | None:
    """The agent and model that a run names; its facts are kept."""
    agent, model = (
        label(where, meta.get("agent_name"), "agent_name"),
        label(where, meta.get("model_name"), "model_name"),
    )
    arm = "/".join(part for part in (agent, model) if part) or None
    kwargs = mapping(where, meta.get("agent_kwargs"), "agent_kwargs")
    temperature = finite(kwargs.get("temperature"))
    dataset = [label(where, meta.get(key), key) for key in ("dataset_name", "dataset_version")]
    limits = [
        f"{key} {meta[key]:g}"
        for key in ("global_timeout_multiplier", "global_agent_timeout_sec", "global_test_timeout_sec")
        if finite(meta.get(key)) is not None
    ]
    run = label(where, meta.get("run_id"), "run_id")
    facts.add(
        arm,
        name=agent,
        version=label(where, kwargs.get("version"), "version") if isinstance(kwargs.get("version"), str) else None,
        harness="terminal-bench",
        oracle=" ".join(["tests of", *(part for part in dataset if part)]) if dataset[0] else None,
        time_budget=", ".join(limits) or None,
        model=model,
        temperature=None if temperature is None else f"{temperature:g}",
        run=run and f"{run} {arm}",
    )
    return arm


def _add(
    where: str, row: dict[str, Any], run: str, arm: str | None, source: int, line: int, trials: Trials, options: Options
) -> str:
    """Add one trial; returns its name."""
    called = name(where, row.get("trial_name"), "trial_name")
    own = identity(where, row.get("id"), "id")
    status, reason, late = _outcome(where, row, options)
    at = {
        key: moment(where, row.get(key), key)
        for key in ("trial_started_at", "trial_ended_at", "agent_started_at", "agent_ended_at")
    }
    text = row.get("instruction")
    trials.add(
        own or (called if _RUN_IN_NAME.search(called) else f"{run}:{called}"),
        item_id=name(where, row.get("task_id"), "task_id"),
        arm=arm,
        stratum=stratum(where, row, options.strata),
        trial=own or (called if _RUN_IN_NAME.search(called) else None),
        status=status,
        reason=reason,
        late_pass=late,
        wall_s=span(at["agent_started_at"], at["agent_ended_at"]),
        started_at=utc(at["trial_started_at"]),
        item_digest=sha256(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None,
        input_tokens=count(where, row.get("total_input_tokens"), "total_input_tokens"),
        output_tokens=count(where, row.get("total_output_tokens"), "total_output_tokens"),
        source=source,
        line=line,
    )
    return called


def _outcome(where: str, row: dict[str, Any], options: Options) -> tuple[str | None, str | None, bool]:
    """(status, reason, passed late)."""
    resolved, mode = row.get("is_resolved"), row.get("failure_mode")
    if resolved is not None and not isinstance(resolved, bool):
        raise InputError(where, f"is_resolved is {kind(resolved)}", "true, false or null")
    if mode is not None and not isinstance(mode, str):
        raise InputError(where, f"failure_mode is {kind(mode)}", "text")
    verdict = None if resolved is None else "passed" if resolved else "failed"
    if mode in _FINE:
        return verdict, None if verdict else "is_resolved is null", False
    reason = clean(mode)
    if infrastructure([mode], options.infra_errors):
        return "lost", reason, False
    if mode == "agent_timeout":
        return "timeout", reason, resolved is True
    if mode in _OF_TESTS:
        return "failed" if verdict == "failed" else "broken", reason, False
    if mode in _LIMITS and verdict is not None:
        return verdict, reason, False
    return "aborted", reason, False


FORMAT = Format("terminal-bench", sniff, read)
