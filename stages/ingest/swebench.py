"""SWE-bench's logs: predictions, run reports, per-instance reports, results of leaderboard submissions, eval_results.

Several files of one arm are one log: predictions and a report, or a run's folder. An instance has one row where all
that is said of it agrees, and one for each outcome where it doesn't. An id in no list has no outcome. Empty patches
count as failed, `error_ids` as aborted, as the harness counts them. No file of SWE-bench has times with a zone or a
session. Several runs (below `run_evaluation`, or several run reports) are repeats, numbered in the order of their
names; runs that judged the very same patches are the same repeat, judged again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stages.contract.errors import InputError
from stages.ingest import openhands
from stages.ingest.model import Format, Notes, Options, Patch, Planned, Reading, Rows
from stages.ingest.swebench_files import is_instance, is_ours, read_path, walk
from stages.ingest.swebench_log import Log, Seen
from stages.ingest.swebench_text import is_infrastructure, joined, repository

_REPOSITORY = (None, "repo", "repository")
_COLUMNS = ("wall_s", "cost_usd", "input_tokens", "output_tokens", "requested_model")
_LATER = "a later prediction of this instance was judged"


def sniff(path: Path) -> bool:
    """Whether a path is a file or folder of SWE-bench, by names and first bytes; a folder of OpenHands is not."""
    if not path.is_dir():
        return is_ours(path)
    if openhands.sniff(path):
        return False
    try:
        return is_instance(path) or next(iter(walk(path)), None) is not None
    except InputError:
        return False


def read(paths: Sequence[Path], options: Options, notes: Notes) -> Reading:
    """All files of one arm. Raises InputError."""
    log = Log(notes, None if options.strata in _REPOSITORY else options.strata)
    for source, path in enumerate(paths):
        read_path(Path(path), source, log)
    names = dict.fromkeys(name.replace("/", "__") for name in log.models)
    if len(names) > 1:
        shown = ", ".join(list(names)[:4])
        raise InputError(paths[0], f"{len(names)} models or systems in one arm: {shown}", "one", "give one arm's files")
    if log.copies:
        notes.add("nested_copies", log.copies[0], f"{len(log.copies)} copies of what was read before", len(log.copies))
    runs = _runs(log, paths[0])
    rows, patches = Rows(), _Patches(notes)
    repeats = _repeats(runs, log)
    unscored: dict[str, None] = {}
    for run in runs:
        for item, said, given in _items(log, run, single=len(runs) == 1):
            for row in _rows(said, given, bool(log.verdicts), options):
                diff = patches.of(item, repeats[run], log.judged.get((run, item)), row.pop("patch"))
                rows.add(
                    item_id=item,
                    stratum=_stratum(item, given, options),
                    repeat=repeats[run],
                    patch_sha256=None if diff is None else hashlib.sha256(diff).hexdigest(),
                    **row,
                )
                if row["status"] is None:
                    unscored[item] = None
    made = rows.table()
    if not made.num_rows:
        raise InputError(paths[0], "holds no instance", "at least one")
    if options.strata not in _REPOSITORY and made.column("stratum").null_count == made.num_rows:
        raise InputError(paths[0], f"no row has a field {options.strata}", "a field of the predictions, or repo")
    if unscored:
        notes.add("not_scored", Path(paths[0]).name, "ids without an outcome", len(unscored), list(unscored))
    patches.report()
    return Reading(made, {"": _facts(log, runs)}, patches.made, _planned(log, repeats))


def _runs(log: Log, where: object) -> list[str | None]:
    """The evaluation runs that the words belong to; run reports get theirs by name. One unnamed run is [None]."""
    named = {v.run for v in log.verdicts if v.run}
    reports = {v.report for v in log.verdicts if v.report}
    label: dict[str, str | None] = {}
    models = {name.removesuffix(".json").rpartition(".")[0] for name in reports}
    if len(models) > 1:
        shown = ", ".join(sorted(reports)[:4])
        raise InputError(where, f"run reports of several models: {shown}", "one model's", "give one arm's files")
    for name in reports:
        known = [run for run in sorted(named, key=lambda r: (-len(r), r)) if name.endswith(f".{run}.json")]
        label[name] = known[0] if known else name.removesuffix(".json") if len(reports) > 1 else None
    log.verdicts = [replace(v, run=label[v.report]) if v.report and v.run is None else v for v in log.verdicts]
    runs = sorted({v.run for v in log.verdicts if v.run})
    if len(runs) > 1 and any(v.run is None for v in log.verdicts):
        raise InputError(where, f"outcomes without a run beside {len(runs)} runs", "one run, or each with its own")
    return [*runs] or [None]


def _repeats(runs: Sequence[str | None], log: Log) -> dict[str | None, int | None]:
    if len(runs) < 2:
        return {runs[0]: None}
    given = {p.item: p.patch for p in log.predictions}
    made: dict[str | None, int | None] = {}
    told: dict[tuple[Any, ...], int] = {}
    for run in runs:
        known = {v.item: log.judged.get((run, v.item), given.get(v.item)) for v in log.verdicts if v.run == run}
        patches = tuple(sorted((i, hashlib.sha256(p).digest()) for i, p in known.items() if p is not None))
        key = patches or (run,)
        made[run] = told.setdefault(key, len(told) + 1)
    return made


def _items(log: Log, run: str | None, single: bool) -> list[tuple[str, list[Seen], list[Seen]]]:
    said: dict[str, list[Seen]] = {p.item: [] for p in log.predictions}
    given: dict[str, list[Seen]] = {item: [] for item in said}
    for p in log.predictions:
        given[p.item].append(p)
    for v in log.verdicts:
        if single or v.run == run:
            said.setdefault(v.item, []).append(v)
    return [(item, words, given.get(item, [])) for item, words in said.items()]


def _rows(said: Sequence[Seen], given: Sequence[Seen], judged: bool, options: Options) -> list[dict[str, Any]]:
    """The rows of one instance in one run: one where all agrees. `judged`: the log holds outcomes at all."""
    last = given[-1] if given else None
    words = [v for v in said if v.status] or list(said[:1])
    if last is not None and (not words or words[0].status is None):
        if judged and not last.patch:  # what the harness itself never evaluates, and counts as not resolved
            words = [replace(last, status="failed", reason="empty patch")]
        elif not words:
            words = [replace(last, reason="no outcome in the log")]
    by_file = Counter((v.status, v.file) for v in words)
    made = []
    for status in dict.fromkeys(v.status for v in words):
        same = [v for v in words if v.status == status]
        times = max(n for (s, _), n in by_file.items() if s == status)
        made += [_row(status, same, last, options) for _ in range(times)]
    earlier = []
    for one in given[:-1]:
        same_patch = last is not None and one.patch == last.patch
        word = words[0] if same_patch else replace(one, status=None, reason=_LATER)
        row = _row(word.status, [word], one, options)
        earlier.append({**row, "source": one.source, "line": one.line})
    return [*earlier, *made]


def _row(status: str | None, words: Sequence[Seen], given: Seen | None, options: Options) -> dict[str, Any]:
    reasons = [v.reason for v in words]
    if status == "aborted" and any(is_infrastructure(reason, options.infra_errors) for reason in reasons):
        status = "lost"
    row: dict[str, Any] = {"status": status, "reason": joined(reasons), "patch": None if given is None else given.patch}
    row |= {"source": words[0].source, "line": words[0].line}
    for one in (*words, *([given] if given else [])):
        row |= {k: one.extra[k] for k in _COLUMNS if one.extra.get(k) is not None}
    return row


def _stratum(item: str, given: Sequence[Seen], options: Options) -> str | None:
    if options.strata in _REPOSITORY:
        return repository(item)
    return next((p.extra["stratum"] for p in given if p.extra.get("stratum")), None)


class _Patches:
    """Patches as they are judged, and where that isn't what the predictions hold."""

    def __init__(self, notes: Notes) -> None:
        self.made: list[Patch] = []
        self._notes, self._differ = notes, dict[str, None]()
        self._seen: set[tuple[str, int | None, bytes]] = set()

    def of(self, item: str, repeat: int | None, judged: bytes | None, given: bytes | None) -> bytes | None:
        """The patch of one row: the one that was judged where the log has it, otherwise the predicted one."""
        if judged is not None and given is not None and judged.rstrip(b"\n") != given.rstrip(b"\n"):
            self._differ[item] = None
        diff = judged if judged is not None else given
        if diff is not None and (item, repeat, diff) not in self._seen:
            self._seen.add((item, repeat, diff))
            self.made.append(Patch(item, None, repeat, diff))
        return diff

    def report(self) -> None:
        """Note what differs."""
        if self._differ:
            found = "patch.diff isn't the prediction's patch"
            self._notes.add("patch_differs", "patch.diff", found, len(self._differ), list(self._differ))


def _facts(log: Log, runs: Sequence[str | None]) -> dict[str, str]:
    made = {name: next(iter(values)) for name, values in log.facts.items() if len(values) == 1}
    if log.models:
        made["name"] = next(iter(log.models))
    if len(runs) == 1 and runs[0]:
        made["run"] = runs[0]
    return made


def _planned(log: Log, repeats: dict[str | None, int | None]) -> Planned | None:
    if not log.planned:
        return None
    return Planned({item: (repository(item), False) for item in log.planned}, len(set(repeats.values())))


FORMAT = Format("swebench", sniff, read)
