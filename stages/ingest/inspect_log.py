"""Logs of Inspect AI: `.eval` and `.json`, single files or folders of them, all of one arm.

A row per sample and epoch. Repeats are epochs; the stratum is a field of the sample's metadata (`stratum`, or the one
that was asked for), else, where logs of several tasks are read together, the task, whose name then stands before each
id. `wall_s` is `total_time`; `started_at` is the sample's own time, in older logs that of its first event; a time
without a zone stays unknown. What was planned are the ids that the log lists of its data set, times its epochs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from stages.contract.errors import InputError, one_line
from stages.ingest.inspect_claims import check_claims
from stages.ingest.inspect_facts import Head, head_of, merged
from stages.ingest.inspect_files import logs_of, sniff
from stages.ingest.inspect_parts import Part, log_of
from stages.ingest.inspect_sample import Outcome, item_digest, key, outcome, stratum
from stages.ingest.inspect_score import Scorer
from stages.ingest.inspect_session import Calls, session
from stages.ingest.inspect_text import mapping, name
from stages.ingest.model import ROWS, Format, Notes, Options, Planned, Reading, Rows


@dataclass
class Read:
    """One log as far as it was read. `points`: what Inspect's own accuracy counts of each sample."""

    path: Path
    head: Head
    claims: dict[str, Any]
    rows: int = 0
    without_error: int = 0
    points: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    keys: set[tuple[str, int]] = field(default_factory=set)
    strata: dict[str, str | None] = field(default_factory=dict)
    unscored: list[str] = field(default_factory=list)
    out_of_range: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)


def read(paths: Sequence[Path], options: Options, notes: Notes) -> Reading:
    """All logs of one arm. Raises InputError or MissingInput."""
    rows, scorer, lines = Rows(), Scorer(options), [0] * len(paths)
    made: list[Read] = []
    for source, path in logs_of(paths, notes):
        try:
            with log_of(path) as log:
                one = Read(path, head_of(log.header, log.retuned, path), dict(mapping(log.header.get("results"), path)))
                for part in log.parts():
                    lines[source] += 1
                    rows.add(**_row(part, one, scorer, options), source=source, line=lines[source])
                if log.torn:
                    said = f"{len(log.torn)} samples have chunks and no sample.json: {', '.join(log.torn[:3])}"
                    notes.add("torn_line", path.name, one_line(said), len(log.torn))
        except RecursionError:
            raise InputError(path, "nested too deeply", "an Inspect log") from None
        made.append(one)
        _note(one, notes)
        check_claims(one.claims, one.head, scorer.name, one, notes)
    scorer.finish(paths[0] if paths else "logs")
    asked = options.strata
    if asked is not None and made and not any(any(one.strata.values()) for one in made) and any(o.rows for o in made):
        raise InputError(made[0].path, f"no sample has {asked!r} in its metadata", "a field of the samples' metadata")
    return Reading(
        _with_tasks(rows.table(), made),
        {"": merged([one.head.facts for one in made])},
        planned=_planned(made, notes),
    )


def _row(part: Part, log: Read, scorer: Scorer, options: Options) -> dict[str, Any]:
    sample, where = part.sample, part.where
    item, epoch = key(sample, where)
    ended = outcome(sample, scorer, options, where)
    calls = Calls(log.head.model)
    for piece in part.events:
        calls.feed(piece, where)
    of = stratum(mapping(sample.get("metadata"), f"{where}: metadata"), options.strata or "stratum", where)
    trial = sample.get("uuid")
    _count(log, item, epoch, ended, of, bool(sample.get("error")))
    return {
        **session(sample, calls, log.head.model, log.head.served_by, where),
        "item_id": item,
        "stratum": of,
        "repeat": epoch,
        "trial": name(trial, f"{where}: uuid") if trial is not None else None,
        "status": ended.status,
        "reason": ended.reason,
        "late_pass": ended.late_pass,
        "score": ended.judged.number,
        "item_digest": item_digest(sample) if part.whole else None,
    }


def _count(log: Read, item: str, epoch: int, ended: Outcome, of: str | None, died: bool) -> None:
    log.rows += 1
    log.without_error += not died
    log.keys.add((item, epoch))
    log.strata.setdefault(item, of)
    log.points[item].append(ended.judged.points or 0.0)
    if ended.judged.out_of_range:
        log.out_of_range.append(item)
    elif ended.status is None:
        log.unscored.append(item)
    if ended.judged.edited:
        log.edited.append(item)


def _note(log: Read, notes: Notes) -> None:
    """What is wrong with one log's samples, with counts and ids."""
    where = log.path.name
    for kind, items, said in (
        ("not_scored", log.unscored, "samples have no outcome: unscored, not a number, cancelled or invalidated"),
        ("score_out_of_range", log.out_of_range, "scores lie outside of 0 to 1"),
        ("restated_run", log.edited, "scores were edited after the run"),
    ):
        if items:
            notes.add(kind, where, f"{len(items)} {said}", len(items), items)
    head, listed = log.head, set(log.head.planned or ())
    inside = {one for one in log.keys if one[0] in listed and one[1] <= head.epochs}
    short = 0 if head.trials is None else head.trials - len(inside)
    if head.status != "success" or short:
        whole = Counter(item for item, _ in inside)
        absent = [item for item in head.planned or () if whole[item] < head.epochs]
        said = f"{len(inside)} of {head.trials} samples" if head.trials is not None else f"{log.rows} samples"
        notes.add("unfinished_run", where, f"status {head.status}; {said}", max(short, 1), absent)
    outside = [] if head.trials is None else sorted({item for item, _ in log.keys - inside})
    if outside:
        said = f"{len(outside)} items have samples that its data set and epochs don't have"
        notes.add("total_disagrees", where, said, len(outside), outside)


def _with_tasks(table: pa.Table, made: Sequence[Read]) -> pa.Table:
    """Rows as they are, or, of several tasks, each id after its task's name: tasks number their samples alike."""
    if len({one.head.task for one in made}) < 2:
        return table
    tasks = pa.concat_arrays([pa.repeat(pa.scalar(one.head.task, pa.string()), one.rows) for one in made])
    columns = {f.name: table[f.name].combine_chunks() for f in ROWS}
    columns["item_id"] = pc.binary_join_element_wise(tasks, columns["item_id"], "/")
    if not any(any(one.strata.values()) for one in made):
        columns["stratum"] = tasks
    return pa.table([columns[f.name] for f in ROWS], schema=ROWS)


def _planned(made: Sequence[Read], notes: Notes) -> Planned | None:
    """Every id that the logs list, with the stratum that its samples have; None where a log lists none."""
    if not made or any(one.head.planned is None for one in made):
        return None
    epochs = sorted({one.head.epochs for one in made})
    if len(epochs) > 1:
        said = f"logs plan {', '.join(str(n) for n in epochs[:5])} epochs: what is missing can't be told"
        notes.add("repeats_differ", "plan", said, len(epochs))
        return None
    several = len({one.head.task for one in made}) > 1
    no_field = not any(any(one.strata.values()) for one in made)
    items: dict[str, tuple[str | None, bool]] = {}
    for one in made:
        for item in one.head.planned or ():
            shown = f"{one.head.task}/{item}" if several else item
            of = one.head.task if several and no_field else one.strata.get(item)
            items[shown] = (items.get(shown, (None, False))[0] or of, False)
    return Planned(items, epochs[0])


FORMAT = Format("inspect", sniff, read)
