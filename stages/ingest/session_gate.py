"""Rows of the session-stamp article: one task in both arms under one session, as JSON array, JSON Lines or CSV.

What comes out: two trials per row, arms `control` (its baseline) and `candidate`, with the row's session on both as
`exported` evidence. A row knows passes and failures only: errors and timeouts aren't told apart from failures. It
holds no times. All ten keys are required; others stay unread, but for `synthetic`, which a row may say of itself.
The article's own gate stands under `legacy.session_gate` (see `session_gate_rule`), or why it can't be computed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stages.contract import limits
from stages.contract.errors import InputError
from stages.contract.text import decode, parse_json, read_bytes
from stages.ingest.lines import check_file, json_lines, peek, raw_lines
from stages.ingest.model import Format, Notes, Options, Reading, Rows
from stages.ingest.session_gate_rule import Row, judge, limits_of

WHAT = "rows of a session gate: a JSON array, JSON Lines or CSV"
_MARKS = (b"task_id", b"baseline_pass", b"candidate_pass", b"quota_state")
_TEXTS = ("task_id", "stratum", "digest", "quota_state", "server_id")
_ARMS = ("control", "candidate")
_LONGEST = 1000
_CHUNK = 32_768
_MOST = 2**53
_PLACE = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?", re.ASCII)
_WORDS = {"true": True, "false": False}


def sniff(path: Path) -> bool:
    """Whether the first bytes name the article's own fields."""
    head = peek(path)
    return all(mark in head for mark in _MARKS)


def read(paths: Sequence[Path], options: Options, notes: Notes) -> Reading:
    """Both arms of one file. Raises InputError naming the row for a missing key or a value of another type."""
    if len(paths) != 1:
        raise InputError("session-gate", f"{len(paths)} files", "one file, which holds both arms", "give one")
    path = paths[0]
    rows = Rows()
    taken = _taken(path, rows, notes)
    under = limits_of(options.protocol)
    if isinstance(under, str):
        for _ in taken:
            pass
        said: dict[str, Any] = {"refused": under}
    else:
        said = judge(taken, under)
    return Reading(rows.table(), legacy={"session_gate": said})


def _taken(path: Path, rows: Rows, notes: Notes) -> Iterator[Row]:
    """The rows as they are read, each put down as two trials; marks of synthetic ones are noted at the end."""
    count, synthetic = 0, 0
    held: list[tuple[int, Row]] = []
    for number, where, fields in _objects(path, notes):
        row = _row(where, fields)
        mark = fields.get("synthetic", False)
        if not isinstance(mark, bool):
            raise InputError(f"{where}: synthetic", "no true or false", "a boolean")
        count, synthetic = count + 1, synthetic + mark
        held.append((number, row))
        if len(held) == _CHUNK:
            _put(rows, held)
            held = []
        yield row
    _put(rows, held)
    if not count:
        raise InputError(path, "holds no row", WHAT)
    if synthetic:
        notes.add("synthetic", path.name, f"{synthetic} of {count} rows say that they are synthetic", synthetic)


def _put(rows: Rows, held: Sequence[tuple[int, Row]]) -> None:
    """Each row as its control's trial and then its candidate's, column by column, since files may be long."""
    both = [row for _, row in held for _ in _ARMS]
    passes = [passed for _, row in held for passed in (row.baseline_pass, row.candidate_pass)]
    columns = {
        "item_id": [row.task_id for row in both],
        "stratum": [row.stratum for row in both],
        "arm": list(_ARMS) * len(held),
        "status": ["passed" if passed else "failed" for passed in passes],
        "item_digest": [row.digest for row in both],
        "evidence": ["exported"] * len(both),
        "server_id": [row.server_id for row in both],
        "queue_ms": [float(row.queue_ms) for row in both],
        "retries": [row.retries for row in both],
        "quota_state": [row.quota_state for row in both],
        "route_changed": [row.route_changed for row in both],
        "line": [number for number, _ in held for _ in _ARMS],
    }
    rows.batch(columns, len(both))


def _row(where: str, fields: Mapping[str, Any]) -> Row:
    """A row whose values are of the article's types. Raises InputError for the first that is missing or is not."""
    for name in Row._fields:
        if name not in fields:
            raise InputError(f"{where}: {name}", "missing", "all ten keys of a session row", "export it; don't guess")
    for name in _TEXTS:
        value = fields[name]
        if not (isinstance(value, str) and value.strip() and value.isprintable() and len(value) <= _LONGEST):
            raise InputError(f"{where}: {name}", f"found {value!r}", f"one line of 1 to {_LONGEST} characters")
    for name in ("baseline_pass", "candidate_pass"):
        value = fields[name]
        if not isinstance(value, bool) and not (isinstance(value, int) and value in (0, 1)):
            raise InputError(f"{where}: {name}", f"found {value!r}", "1 or 0 (or true, false)")
    queue, retries, route = fields["queue_ms"], fields["retries"], fields["route_changed"]
    if isinstance(queue, bool) or not isinstance(queue, int | float) or not 0 <= queue < _MOST:
        raise InputError(f"{where}: queue_ms", f"found {queue!r}", "milliseconds, 0 or more")
    if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries < _MOST:
        raise InputError(f"{where}: retries", f"found {retries!r}", "a whole number, 0 or more")
    if not isinstance(route, bool):
        raise InputError(f"{where}: route_changed", f"found {route!r}", "true or false")
    passes = {name: bool(fields[name]) for name in ("baseline_pass", "candidate_pass")}
    return Row(**{**{name: fields[name] for name in Row._fields}, **passes})


def _objects(path: Path, notes: Notes) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """(number, place, fields) of each row; numbers are lines of the file, or places in its array from 1."""
    check_file(path, WHAT)
    first = peek(path).lstrip()[:1]
    if first == b"[":
        held = parse_json(path, read_bytes(path, limits.MAX_JSON_BYTES, WHAT))
        for number, fields in enumerate(held, 1):
            if not isinstance(fields, dict):
                raise InputError(f"{path}: row {number}", "no object", WHAT)
            yield number, f"{path}: row {number}", fields
    elif first == b"{":
        for number, fields in json_lines(path, WHAT, notes):
            yield number, f"{path}: line {number}", fields
    else:
        yield from _csv(path, notes)


def _csv(path: Path, notes: Notes) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    names: list[str] = []
    for number, line, ended in raw_lines(path, WHAT):
        where = f"{path}: line {number}"
        try:
            cells = next(csv.reader([decode(where, line)], strict=True))
        except csv.Error as error:
            cells, problem = [], f"can't be read as CSV ({error})"
        else:
            problem = f"{len(cells)} cells"
        if not names:
            names = cells
            if len(set(names)) != len(names) or not set(Row._fields) <= set(names):
                raise InputError(where, "no header with the ten names, each once", ", ".join(Row._fields))
            continue
        if len(cells) != len(names):
            if not ended:  # raw_lines gives it as the file's last
                notes.add("torn_line", path.name, f"line {number} is cut off after {len(line)} bytes")
                return
            raise InputError(where, problem, f"{len(names)} cells, as the header has")
        yield number, where, {name: _cell(name, text) for name, text in zip(names, cells, strict=True)}


def _cell(name: str, text: str) -> Any:
    """A cell as JSON would have it; what isn't of its column's form stays text, and is refused as such."""
    if name in ("queue_ms", "retries", "baseline_pass", "candidate_pass") and _PLACE.fullmatch(text):
        return float(text) if "." in text else int(text)
    if name in ("route_changed", "baseline_pass", "candidate_pass", "synthetic"):
        return _WORDS.get(text.lower(), text)
    return text


FORMAT = Format("session-gate", sniff, read, both_arms=True)
