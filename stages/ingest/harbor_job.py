"""What a Harbor job claims of its trials, set against the trials themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stages.contract.errors import one_line
from stages.ingest.lines import finite
from stages.ingest.model import Notes
from stages.ingest.values import count, mapping

_ROUNDING = 1e-6


def check_job(
    folder: Path, job: Mapping[str, Any], trials: Mapping[Path, Mapping[str, Any]], started: int, notes: Notes
) -> None:
    """Note what a job's `result.json` says of its trials that they don't say: their number, errors, rewards and means.

    `trials`: folder to its rewards and error. `started`: trials that have no result. Raises InputError for totals that
    are no numbers.
    """
    where = f"{folder.name}/result.json"
    stats = mapping(where, job.get("stats"), "stats")
    planned = count(where, job.get("n_total_trials"), "n_total_trials")
    there = len(trials) + started
    if planned is not None and planned > len(trials):
        notes.add(
            "unfinished_run", where, f"{planned} trials planned, {len(trials)} have a result", planned - len(trials)
        )
    elif "finished_at" in job and job["finished_at"] is None:
        notes.add("unfinished_run", where, "the job has no end")
    if planned is not None and planned < there:
        notes.add("total_disagrees", where, f"the job says {planned} trials, {there} are there")
    errors = sum(one["error"] is not None for one in trials.values())
    done = {"n_completed_trials": len(trials), "n_trials": len(trials), "n_errored_trials": errors, "n_errors": errors}
    for key, found in done.items():
        claimed = count(where, stats.get(key), key)
        if claimed is not None and claimed != found:
            notes.add("total_disagrees", where, f"{key} is {claimed}, the trials give {found}")
    again = count(where, stats.get("n_retries"), "n_retries")
    if again:
        notes.add("tries_collapsed", where, f"{again} trials ended in errors and were run anew, by the job's own count")
    by_name = {path.name: one for path, one in trials.items()}
    for label, given in mapping(where, stats.get("evals"), "evals").items():
        for said in _evaluation(where, mapping(where, given, "an evaluation"), by_name):
            notes.add("total_disagrees", where, one_line(f"{label}: {said}", 200))


def _evaluation(where: str, given: Mapping[str, Any], trials: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What one evaluation claims and its trials don't give."""
    named: set[str] = set()
    for key, by_value in mapping(where, given.get("reward_stats"), "reward_stats").items():
        for text, ids in mapping(where, by_value, f"reward_stats.{key}").items():
            listed = [one for one in ids if isinstance(one, str)] if isinstance(ids, list) else []
            named.update(listed)
            odd = [one for one in listed if one in trials and not _same(text, trials[one]["rewards"].get(key))]
            if odd:
                yield f"{len(odd)} trials are listed with {key} {text} and have another: {', '.join(sorted(odd)[:3])}"
    for ids in mapping(where, given.get("exception_stats"), "exception_stats").values():
        named.update(one for one in ids if isinstance(one, str)) if isinstance(ids, list) else None
    gone = sorted(named - trials.keys())
    if gone:
        yield f"{len(gone)} listed trials aren't there: {', '.join(gone[:3])}"
    mean, own = _mean(given.get("metrics")), [trials[one]["rewards"] for one in sorted(named & trials.keys())]
    if mean is None or not own or gone or any(len(one) > 1 for one in own):
        return
    number = count(where, given.get("n_trials"), "n_trials") or len(own)
    found = sum(finite(next(iter(one.values()), 0)) or 0 for one in own) / max(number, len(own))
    if abs(found - mean) > _ROUNDING:
        yield f"mean {mean:g}, the trials give {found:g}"


def _same(text: str, reward: Any) -> bool:
    try:
        return float(text) == finite(reward)
    except ValueError:
        return False


def _mean(metrics: Any) -> float | None:
    first = metrics[0] if isinstance(metrics, list) and metrics else None
    return finite(first.get("mean")) if isinstance(first, dict) else None
