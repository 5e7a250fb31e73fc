"""OpenHands' logs: output.jsonl (one line per instance), its evaluated form, and the report of the evaluation.

An outcome stands in the line itself (`report`, `test_result.report`, `resolved`), in a line of the evaluation
(`*.swebench_eval.jsonl`), or in a run report of SWE-bench's form beside it; without one, a trial has none. `error`:
limits of iterations, budget and context keep the outcome and are named; a time limit is a timeout; any other error is
aborted, whatever the tests say of what was left behind. `started_at` and `wall_s` stay unknown: the history's stamps
have no zone, and no duration is logged. A resumed run may hold an instance twice: both lines are rows, and of two
patches only the last has an outcome that stands elsewhere. Several runs (`…-run_1`, `…-run_2`) are repeats.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stages.contract.errors import InputError
from stages.contract.limits import MAX_JSON_BYTES
from stages.contract.text import read_bytes
from stages.ingest.lines import json_lines, parse_lenient, peek
from stages.ingest.model import Format, Notes, Options, Patch, Planned, Reading, Rows
from stages.ingest.openhands_row import Trial, ended, trial
from stages.ingest.swebench_files import file_digest, is_folder
from stages.ingest.swebench_log import Log, run_report
from stages.ingest.swebench_text import repository

WHAT = "output.jsonl of OpenHands, or its folder, with the report of its evaluation"
MAX_DEPTH, MAX_ENTRIES = 8, 200_000
_OURS = re.compile(rb'(?<!\\)"(?:test_result|git_patch)"\s*:')
_BESIDE = re.compile(rb'(?<!\\)"(?:instruction|metadata|metrics|history|error|report)"\s*:')
_THEIRS = re.compile(rb'(?<!\\)"(?:model_patch|modelPatch)"\s*:')
_TRY = re.compile(r"output\.critic_attempt_\d+\.jsonl")
_RUN = re.compile(r"run_(\d{1,4})\Z")


@dataclass
class _Group:
    """The files of one run: they lie in one folder."""

    log: Log
    trials: list[Trial] = field(default_factory=list)
    evaluations: dict[str, list[Trial]] = field(default_factory=dict)


def sniff(path: Path) -> bool:
    """Whether a path is an output.jsonl of OpenHands, or a folder with one."""
    if path.is_dir():
        try:
            return any(one.suffix == ".jsonl" for one in _files(path, None))
        except InputError:
            return False
    return _is_output(path)


def _is_output(path: Path) -> bool:
    head = peek(path) if path.suffix == ".jsonl" else b""
    return b'"instance_id"' in head and bool(_OURS.search(head) and _BESIDE.search(head)) and not _THEIRS.search(head)


def _is_report(path: Path) -> bool:
    return path.suffix == ".json" and (path.name == "report.json" or path.name.endswith(".report.json"))


def _files(root: Path, tries: list[Path] | None, depth: int = 0) -> Iterator[Path]:
    """Output and reports below a folder, sorted by name; files of single tries are only counted."""
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(root, f"can't be read ({error.strerror})", WHAT) from None
    if depth > MAX_DEPTH or len(entries) > MAX_ENTRIES:
        raise InputError(root, "is too deep or too large a folder", WHAT, "give the run's own folder")
    for entry in entries:
        path = Path(entry.path)
        ours = _is_report(path) or path.suffix == ".jsonl"
        if entry.is_symlink():
            if ours or path.is_dir():
                raise InputError(path, "is a link", "files and folders of the log itself", "give what it points to")
        elif entry.is_dir():
            if entry.name not in ("eval_outputs", "llm_completions", "logs", "infer_logs"):
                yield from _files(path, tries, depth + 1)
        elif _TRY.fullmatch(entry.name):
            if tries is not None:
                tries.append(path)
        elif entry.is_file() and ours and (_is_output(path) or _is_report(path)):
            yield path


def read(paths: Sequence[Path], options: Options, notes: Notes) -> Reading:
    """All files of one arm. Raises InputError or MissingInput."""
    tries: list[Path] = []
    strata = None if options.strata in (None, "repo", "repository") else options.strata
    groups, all_copies = _gather(paths, strata, tries, notes)
    if tries:
        notes.add("tries_collapsed", tries[0].parent.name, f"{len(tries)} files of single tries not read", len(tries))
    if all_copies:
        notes.add("nested_copies", all_copies[0], "copies of what was read before", len(all_copies))
    repeats = _repeats(groups)
    rows, patches, unscored = Rows(), list[Patch](), list[str]()
    facts: dict[str, set[str]] = {}
    planned: dict[str, None] = {}
    for group, repeat in zip(groups, repeats, strict=True):
        planned.update(group.log.planned)
        for name, values in group.log.facts.items():
            facts.setdefault("oracle" if name == "harness" else name, set()).update(values)
        for one, status, why in _outcomes(group):
            row = ended(one, status, why, tuple(options.infra_errors))
            sha = None if one.patch is None else hashlib.sha256(one.patch).hexdigest()
            stratum = one.stratum if strata else repository(one.item)
            place = {"source": one.source, "line": one.line, "repeat": repeat}
            rows.add(item_id=one.item, stratum=stratum, patch_sha256=sha, **place, **row, **one.columns)
            if one.patch is not None:
                patches.append(Patch(one.item, None, repeat, one.patch))
            if row["status"] is None:
                unscored.append(one.item)
            for name, value in one.facts.items():
                facts.setdefault(name, set()).add(value)
    table = rows.table()
    if not table.num_rows:
        raise InputError(paths[0], "holds no instance", "at least one")
    if strata and table.column("stratum").null_count == table.num_rows:
        raise InputError(paths[0], f"no line has a field {strata}", "a field of `instance` or of the line, or repo")
    if unscored:
        notes.add("not_scored", Path(paths[0]).name, "instances without an outcome", len(unscored), unscored)
    agreed = {name: next(iter(values)) for name, values in facts.items() if len(values) == 1}
    items = {item: (repository(item), False) for item in planned}
    return Reading(table, {"": agreed}, patches, Planned(items, len(set(repeats))) if items else None)


def _gather(
    paths: Sequence[Path], strata: str | None, tries: list[Path], notes: Notes
) -> tuple[list[_Group], list[str]]:
    groups: dict[str, _Group] = {}
    reports: list[tuple[int, Path]] = []
    copies, seen = Log(notes), set[str]()
    for source, given in enumerate(map(Path, paths)):
        found = list(_files(given, tries)) if is_folder(given, WHAT) else [given]
        if not found:
            raise InputError(given, "holds no output.jsonl", WHAT)
        for path in found:
            if path.suffix == ".json":
                reports.append((source, path))
            elif path.suffix != ".jsonl":
                raise InputError(path, "ends in neither .jsonl nor .json", WHAT)
            elif not copies.is_copy(path, file_digest(path)):
                group = groups.setdefault(str(path.parent), _Group(Log(notes)))
                for number, row in json_lines(path, "a line of OpenHands' output.jsonl", notes):
                    one = trial(f"{path}: line {number}", row, source, number, strata)
                    if one.evaluation:
                        group.evaluations.setdefault(one.item, []).append(one)
                    else:
                        group.trials.append(one)
    for source, path in reports:
        data = read_bytes(path, MAX_JSON_BYTES, "a run report of SWE-bench")
        value = parse_lenient(path, data)
        if not isinstance(value, dict) or "resolved_ids" not in value:
            raise InputError(path, "has no resolved_ids", "a run report of SWE-bench")
        one_run = next(iter(groups.values())) if len(groups) == 1 else groups.get(str(path.parent))
        if one_run is None:
            raise InputError(path, f"belongs to none of {len(groups)} runs", "a report beside its output.jsonl")
        digest = hashlib.sha256(data).hexdigest()
        key = f"{digest} {id(one_run)}"
        if key in seen:
            copies.copies.append(path.name)
            continue
        seen.add(key)
        one_run.log.file = str(path)
        run_report(path, value, source, one_run.log)
    return list(groups.values()), copies.copies


def _repeats(groups: Sequence[_Group]) -> list[int | None]:
    """The runs' own numbers where there are several and each has another; otherwise none."""
    said = [{one.facts.get("run", "") for one in group.trials} for group in groups]
    found = [_RUN.search(next(iter(names))) if len(names) == 1 else None for names in said]
    numbers = [int(one[1]) for one in found if one]
    if len(groups) > 1 and len(numbers) == len(groups) == len(set(numbers)):
        return list(numbers)
    return [None] * len(groups)


def _outcomes(group: _Group) -> Iterator[tuple[Trial, str | None, str]]:
    """Each trial with the tests' outcome; one row for each outcome where those disagree.

    Lines of the evaluation, and ids of the report, are trials of their own only where there is no other line of them.
    """
    run = {one.item for one in group.trials}
    trials = [*group.trials, *(one for item, ones in group.evaluations.items() if item not in run for one in ones)]
    elsewhere: dict[str, list[tuple[str | None, str]]] = {}
    for item in run & set(group.evaluations):
        elsewhere[item] = [(one.status, one.why) for one in group.evaluations[item]]
    for seen in group.log.verdicts:
        elsewhere.setdefault(seen.item, []).append((seen.status, seen.reason))
    last = {one.item: one for one in trials}
    for seen in group.log.verdicts:
        if seen.item not in last:
            last[seen.item] = Trial(seen.item, seen.source, seen.line, None, None, "", "", True)
            trials.append(last[seen.item])
    for one in trials:
        said = [(one.status, one.why)] if one.status or not one.evaluation else []
        if one.patch == last[one.item].patch:
            said += elsewhere.get(one.item, [])
        elif not one.status:
            said = [(None, "a later line of this instance was judged")]
        yield from ((one, *word) for word in _agreed(said or [(None, one.why)]))


def _agreed(said: Sequence[tuple[str | None, str]]) -> list[tuple[str | None, str]]:
    scored = [word for word in said if word[0]]
    made: dict[str | None, str] = {}
    for status, why in scored or said:
        made[status] = made.get(status) or why
    return list(made.items())


FORMAT = Format("openhands", sniff, read)
