"""Samples of the LM evaluation harness: `samples_TASK_TIME.jsonl`, set against `results_TIME.json` beside them.

One row per document and run; an item is `TASK/doc_id`, its stratum the task unless `--strata` names a field such as
`doc.topic`, its digest the document's hash. Each filter writes rows of its own for the same answers: one counts, the
only one or what `--filter` names (a filter, a metric, or `metric,filter`). The metric is 0 or 1, or a fraction with a
declared threshold; one that isn't per document, or of which less is better, is refused. Runs of one task are its
repeats, by folder and time; the same file name with the same bytes is one run's copy.

These logs know neither errors nor timeouts, nor times of a trial, nor the session: all of that stays null.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.contract.digest import file_sha256
from stages.contract.errors import InputError
from stages.ingest.folders import entries, json_object, json_rows, plain, present, walk
from stages.ingest.lines import finite, peek
from stages.ingest.lm_eval_choice import Choice, choose
from stages.ingest.model import Format, Notes, Options, Reading
from stages.ingest.values import Facts, Trials, graded, identity, label, mapping, name, stratum

WHAT = "samples_TASK_TIME.jsonl of the LM evaluation harness (--log_samples)"
MAX_BYTES = 64 * 1024 * 1024
_NAME = re.compile(r"samples_(?P<task>.+?)(?:_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?))?\.jsonl")
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Samples:
    """One file of samples."""

    path: Path
    task: str
    time: str | None


def sniff(path: Path) -> bool:
    """Whether it is a file of samples, results beside such a file, or a folder that holds one."""
    try:
        if path.is_file():
            if _NAME.fullmatch(path.name):
                head = peek(path)
                return b'"doc_id"' in head and b'"doc"' in head
            return path.name.startswith("results_") and any(sniff(one.path) for one in _beside(path))
        folders = walk(path, 3, WHAT, Notes(), lambda _: True) if path.is_dir() else iter(())
        held = (entries(one, WHAT) for one, _ in zip(folders, range(200), strict=False))
        return any(_NAME.fullmatch(one.name) and sniff(one) for found in held for one in found)
    except (InputError, OSError):
        return False


def read(paths: Sequence[Path], options: Options, notes: Notes) -> Reading:
    """Rows of all samples. Raises InputError naming file and line."""
    trials, facts = Trials(), Facts()
    seen: set[tuple[str, str]] = set()
    for source, path in enumerate(paths):
        present(path, WHAT)
        files = _files(path, notes)
        if not files:
            raise InputError(path, "holds no samples", WHAT, "run with --log_samples")
        for samples in files:
            if plain(samples.path) and samples.path.stat().st_size:
                key = (samples.path.name, file_sha256(samples.path))
                if key in seen:
                    trials.later("nested_copies", "files that were read already", samples.path.name)
                    continue
                seen.add(key)
            _read_file(samples, source, trials, facts, options, notes)
        _check_runs(files, notes)
        trials.note(notes, path.name)
    return Reading(trials.table(), facts=facts.made())


def _files(path: Path, notes: Notes) -> list[Samples]:
    """The files of samples that a path stands for, in order of folder, time and task."""
    if not path.is_dir():
        return [_samples(path)] if not path.name.startswith("results_") else _beside(path)
    found = [
        _samples(one)
        for folder in walk(path, 5, WHAT, notes, lambda _: True)
        for one in entries(folder, WHAT)
        if _NAME.fullmatch(one.name)
    ]
    return sorted(found, key=lambda one: (one.path.parent.parts, one.time or "", one.task))


def _samples(path: Path) -> Samples:
    found = _NAME.fullmatch(path.name)
    if found is None:
        raise InputError(path, "has another name", WHAT)
    return Samples(path, found["task"], found["time"])


def _beside(results: Path) -> list[Samples]:
    time = results.name.removeprefix("results_").removesuffix(".json")
    found = [_samples(one) for one in entries(results.parent, WHAT) if _NAME.fullmatch(one.name)]
    return [one for one in found if one.time == time]


def _results(samples: Samples) -> dict[str, Any]:
    path = samples.path.parent / ("results.json" if samples.time is None else f"results_{samples.time}.json")
    return json_object(path, MAX_BYTES, "results of the LM evaluation harness")[0] if plain(path) else {}


def _read_file(samples: Samples, source: int, trials: Trials, facts: Facts, options: Options, notes: Notes) -> None:
    """Add the rows of one file, and note what its run claims otherwise."""
    results = _results(samples)
    choice = choose(samples.path, WHAT, options.filter)
    where = samples.path.name
    arm = _arm(where, samples, results, choice, facts)
    task = name(where, samples.task, "the task")
    total, graded_rows, rows = 0.0, 0, 0
    for number, row in json_rows(samples.path, WHAT, notes):
        at = f"{where}: line {number}"
        if (label(at, row.get("filter"), "filter") or "none") != choice.filter:
            continue
        status, reason, score = graded(at, row.get(choice.metric), options.threshold, choice.metric)
        item = f"{task}/{name(at, row.get('doc_id'), 'doc_id')}"
        trials.add(
            f"{source}:{samples.path}",
            item_id=item,
            arm=arm,
            stratum=task if options.strata is None else stratum(at, row, options.strata),
            status=status,
            reason=reason,
            score=score,
            item_digest=identity(at, row.get("doc_hash"), "doc_hash"),
            requested_model=label(where, results.get("model_name"), "model_name"),
            source=source,
            line=number,
        )
        rows += 1
        if score is not None:
            total, graded_rows = total + score, graded_rows + 1
    if not rows:
        raise InputError(samples.path, "no row", WHAT)
    _check(samples, results, choice, rows, total / graded_rows if graded_rows else None, notes)


def _arm(where: str, samples: Samples, results: dict[str, Any], choice: Choice, facts: Facts) -> str | None:
    """The model that a run names; its facts are kept."""
    if not results:
        return None
    model = label(where, results.get("model_name"), "model_name")
    version = label(where, results.get("lm_eval_version"), "lm_eval_version")
    of_task = mapping(where, mapping(where, results.get("configs"), "configs").get(samples.task), "the task's config")
    told = [
        f"{said} {value}"
        for said, key in (("version", "versions"), ("n-shot", "n-shot"))
        if isinstance(value := mapping(where, results.get(key), key).get(samples.task), str | int | float)
    ]
    how = mapping(where, of_task.get("generation_kwargs"), "generation_kwargs")
    temperature = finite(how.get("temperature"))
    time = finite(results.get("date"))
    facts.add(
        model,
        name=model,
        harness=f"lm-eval {version}" if version else "lm-eval",
        oracle=label(where, " ".join([samples.task, *told, f"{choice.metric},{choice.filter}"]), "oracle"),
        model=model,
        temperature=None if temperature is None else f"{temperature:g}",
        run=None if time is None else f"{time:.6f} {model}",
    )
    return model


def _check(
    samples: Samples, results: dict[str, Any], choice: Choice, rows: int, mean: float | None, notes: Notes
) -> None:
    """Note a run's number of samples and its metric where the rows give another. Raises InputError for a metric of
    which less is better."""
    where = samples.path.name
    part = {
        key: mapping(where, mapping(where, results.get(key), key).get(samples.task), f"{key} of the task")
        for key in ("results", "n-samples", "higher_is_better", "configs")
    }
    if part["higher_is_better"].get(choice.metric) is False:
        raise InputError(where, f"less of {choice.metric} is better", "a metric that passes from below up")
    for number in (part["n-samples"].get("effective"), part["results"].get("sample_len")):
        if finite(number) is not None and number != rows:
            notes.add("total_disagrees", where, f"its results claim {number:g} samples, the rows are {rows}")
            break
    claimed = finite(part["results"].get(f"{choice.metric},{choice.filter}"))
    if claimed is None or _aggregation(part["configs"], choice.metric) != "mean":
        return
    if mean is None or abs(claimed - mean) > _TOLERANCE:
        own = "none" if mean is None else f"{mean:g}"
        notes.add("total_disagrees", where, f"{choice.metric},{choice.filter} is {claimed:g}, the rows give {own}")


def _aggregation(config: Mapping[str, Any], metric: str) -> Any:
    """How a metric was aggregated; `mean`, as it is by default, where the log doesn't say."""
    listed = config.get("metric_list")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and one.get("metric") == metric:
            return one.get("aggregation", "mean")
    return "mean"


def _check_runs(files: Sequence[Samples], notes: Notes) -> None:
    """Note tasks that a run has results of and no samples."""
    runs: dict[tuple[Path, str | None], list[Samples]] = {}
    for one in files:
        runs.setdefault((one.path.parent, one.time), []).append(one)
    for (folder, time), own in runs.items():
        counted = mapping(folder.name, _results(own[0]).get("n-samples"), "n-samples")
        here = {
            found["task"]
            for one in entries(folder, WHAT)
            if (found := _NAME.fullmatch(one.name)) and found["time"] == time
        }
        gone = sorted(name(folder.name, one, "a task") for one in counted.keys() - here)
        if gone:
            notes.add("unfinished_run", time or folder.name, f"{len(gone)} tasks have no samples", len(gone), gone)


FORMAT = Format("lm-eval", sniff, read)
