"""Plain tables of trials: CSV, JSON lines or Parquet, a row per trial.

Columns `item_id` and `passed` or `status`; where known `arm stratum repeat cluster placebo wall_s abort_reason
started_at attempts server_id queue_ms retries quota_state route_changed requested_model served_model served_by
input_tokens output_tokens cost_usd patch digest trial_id cached synthetic`. Others aren't read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stages.contract.digest import sha256
from stages.contract.errors import InputError
from stages.ingest.cells import Cells
from stages.ingest.lines import peek
from stages.ingest.model import Format, Notes, Options, Patch, Reading, Rows
from stages.ingest.table_blocks import Block, csv_blocks, jsonl_blocks, parquet_blocks

WHAT = "a table of trials (CSV, JSON lines or Parquet)"
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")

# column of ROWS, name in the table, how a value is read
_PLAIN: tuple[tuple[str, str, str], ...] = (
    ("item_id", "item_id", "name"),
    ("stratum", "stratum", "name"),
    ("cluster", "cluster", "name"),
    ("arm", "arm", "name"),
    ("trial", "trial_id", "name"),
    ("item_digest", "digest", "name"),
    ("repeat", "repeat", "count"),
    ("attempts", "attempts", "count"),
    ("retries", "retries", "count"),
    ("input_tokens", "input_tokens", "count"),
    ("output_tokens", "output_tokens", "count"),
    ("wall_s", "wall_s", "amount"),
    ("queue_ms", "queue_ms", "amount"),
    ("cost_usd", "cost_usd", "amount"),
    ("placebo", "placebo", "flag"),
    ("cached", "cached", "flag"),
    ("route_changed", "route_changed", "flag"),
    ("reason", "abort_reason", "text"),
    ("server_id", "server_id", "text"),
    ("quota_state", "quota_state", "quota"),
    ("requested_model", "requested_model", "text"),
    ("served_model", "served_model", "text"),
    ("served_by", "served_by", "text"),
    ("started_at", "started_at", "moment"),
)
_CUT_SHORT = ("broken", "timeout", "aborted", "lost")
SESSION = ("server_id", "queue_ms", "retries", "quota_state", "route_changed")
NAMES = {name for _, name, _ in _PLAIN} | {"passed", "status", "patch", "synthetic", "evidence"}


def sniff(path: Path) -> bool:
    """Whether it has a table's suffix, and a name of ours among what it begins with."""
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return False
    head = peek(path)
    return head.startswith(b"PAR1") or b"item_id" in head


def read(paths: Sequence[Path], options: Options, notes: Notes) -> Reading:
    """All tables one after the other. Raises InputError naming file, line and column."""
    rows = Rows()
    patches: list[Patch] = []
    for source, path in enumerate(paths):
        unscored: list[str] = []
        seen = 0
        for block in _blocks(path, notes):
            seen += block.length
            patches += _add(rows, block, source, options, notes, unscored)
        if not seen:
            raise InputError(path, "no row", "a row per trial")
        if unscored:
            notes.add("not_scored", path.name, f"{len(unscored)} rows have no outcome", len(unscored), unscored)
    return Reading(rows.table(), patches=patches)


def _blocks(path: Path, notes: Notes) -> Iterator[Block]:
    if path.suffix.lower() == ".parquet" or peek(path, 4) == b"PAR1":
        return parquet_blocks(path, WHAT)
    if path.suffix.lower() in (".csv", ".tsv"):
        return csv_blocks(path, WHAT, "\t" if path.suffix.lower() == ".tsv" else ",")
    return jsonl_blocks(path, WHAT, notes)


def _add(rows: Rows, block: Block, source: int, options: Options, notes: Notes, unscored: list[str]) -> list[Patch]:
    cells = Cells(block)
    theirs: Mapping[str, str] = {**{name: name for name in NAMES}, **options.columns}
    if options.strata:
        theirs = {**theirs, "stratum": options.strata}
        if options.strata not in block.columns:
            raise InputError(block.where, f"no column {options.strata}", f"one of {', '.join(block.columns)[:300]}")
    for ours in options.columns:
        if ours not in NAMES:
            raise InputError(f"--map: {ours}", "no column of ours", f"one of {', '.join(sorted(NAMES))}")
        if options.columns[ours] not in block.columns:
            raise InputError(
                block.where,
                f"no column {options.columns[ours]}",
                f"one of {', '.join(block.columns)[:300]}",
                "see --map",
            )
    if theirs["item_id"] not in block.columns:
        raise InputError(block.where, "no column item_id", "an id per row", "name it with --map item_id=THEIRS")
    made: dict[str, Any] = {}
    for column, name, kind in _PLAIN:
        if theirs[name] in block.columns:
            made[column] = cells.read(theirs[name], kind)
    for name, column in (("item_id", "item_id"), ("stratum", "stratum"), ("arm", "arm")):
        if column in made:
            cells.whole(theirs[name], made[column])
    made |= _outcomes(cells, block, theirs, made, options, notes)
    for column in ("placebo", "cached"):
        if column in made:
            made[column] = [bool(value) for value in made[column]]
    if any(name in made for name in SESSION):
        said = theirs["evidence"]
        made["evidence"] = cells.read(said, "evidence") if said in block.columns else ["exported"] * block.length
    if theirs["synthetic"] in block.columns:
        count = sum(bool(flag) for flag in cells.read(theirs["synthetic"], "flag"))
        if count:
            notes.add("synthetic", block.path.name, f"{count} rows say so", count)
    patches: list[Patch] = []
    if theirs["patch"] in block.columns:
        texts = cells.read(theirs["patch"], "blob")
        made["patch_sha256"] = [None if text is None else sha256(text) for text in texts]
        arms, repeats = made.get("arm", [None] * block.length), made.get("repeat", [None] * block.length)
        given = zip(made["item_id"], arms, repeats, texts, strict=True)
        patches = [Patch(item, arm, repeat, text) for item, arm, repeat, text in given if text is not None]
    made |= {"source": [source] * block.length, "line": block.lines()}
    rows.batch(made, block.length)
    unscored += [item for item, status in zip(made["item_id"], made["status"], strict=True) if status is None]
    return patches


def _outcomes(
    cells: Cells, block: Block, theirs: Mapping[str, str], made: Mapping[str, Any], options: Options, notes: Notes
) -> dict[str, Any]:
    """`status`, and `score` where outcomes are numbers. An abort that the log gives a reason for isn't passed."""
    both = [name for name in ("passed", "status") if theirs[name] in block.columns]
    if "status" in options.columns and "passed" not in options.columns and theirs["status"] == "passed":
        both = ["status"]
    if not both:
        todo = "name it with --map passed=THEIRS or status=THEIRS"
        raise InputError(block.where, "no column passed or status", "one of the two", todo)
    said = cells.read(theirs["status"], "status") if "status" in both else []
    if both == ["status"]:
        return {"status": _aborted(said, made)}
    statuses, scores, out = cells.passes(theirs["passed"], options.threshold)
    if out:
        notes.add("score_out_of_range", block.path.name, f"{len(out)} scores outside of 0 to 1", len(out))
    if said:
        odd = next((i for i, s in enumerate(said) if (s == "passed") != (statuses[i] == "passed")), None)
        if odd is not None:
            raise InputError(block.place(odd), f"status {said[odd]}, passed {statuses[odd]}", "two columns that agree")
        return {"status": _aborted(said, made), "score": scores}
    return {"status": _aborted(statuses, made), "score": scores}


def _aborted(statuses: list[Any], made: Mapping[str, Any]) -> list[Any]:
    """Statuses in which a row with a reason to abort is aborted, unless it says otherwise how it was cut short."""
    if "reason" not in made:
        return statuses
    pairs = zip(statuses, made["reason"], strict=True)
    return [status if reason is None or status in _CUT_SHORT else "aborted" for status, reason in pairs]


FORMAT = Format("table", sniff, read, both_arms=True)
