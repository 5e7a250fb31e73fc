"""What a reader hands on: rows of trials, patches, what the log says of its arms, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from stages.contract.findings_of_read import FINDINGS_OF_READ

STATUSES = ("passed", "failed", "broken", "timeout", "aborted", "lost")

_S, _I, _F, _B = pa.string(), pa.int64(), pa.float64(), pa.bool_()

ROWS = pa.schema(
    [
        pa.field("item_id", _S, False),
        pa.field("stratum", _S),
        pa.field("cluster", _S),
        pa.field("placebo", _B, False),
        pa.field("arm", _S),  # as the log names it; null where the whole file is one arm's
        pa.field("repeat", _I),  # as the log numbers it; null: the only one
        pa.field("trial", _S),  # the harness's own id of the trial, where it is unique
        pa.field("status", _S),  # one of STATUSES; null: the log holds no outcome
        pa.field("reason", _S),  # why it ended so, or why there is no outcome
        pa.field("late_pass", _B, False),  # passed after its time limit
        pa.field("cached", _B, False),
        pa.field("score", _F),  # where the log has a number
        pa.field("wall_s", _F),
        pa.field("started_at", _S),  # ISO 8601 with its zone
        pa.field("attempts", _I),
        pa.field("item_digest", _S),  # of the item's content, as the log has it
        pa.field("patch_sha256", _S),
        # the session, as far as the log has it
        pa.field("evidence", _S),  # recorded | exported | asserted; null: no word of the session
        pa.field("server_id", _S),
        pa.field("queue_ms", _F),
        pa.field("retries", _I),
        pa.field("quota_state", _S),
        pa.field("route_changed", _B),
        pa.field("route_what", _S),
        pa.field("requested_model", _S),
        pa.field("served_model", _S),
        pa.field("served_by", _S),  # provider, host, region or fingerprint, as one text
        pa.field("input_tokens", _I),
        pa.field("output_tokens", _I),
        pa.field("cost_usd", _F),
        pa.field("source", _I, False),  # which of the paths, from 0
        pa.field("line", _I, False),  # line, row or sample within it, from 1
    ]
)
"""One row per trial as the log has it: duplicates and all, in the log's order."""

_DEFAULTS = {"placebo": False, "late_pass": False, "cached": False, "source": 0}
_CHUNK = 65_536


@cache
def _nulls(length: int, kind: pa.DataType) -> pa.Array:
    return pa.nulls(length, kind)  # shared: most columns of most logs are null


class Rows:
    """Collects rows, and packs them away as Arrow columns so that millions fit."""

    def __init__(self) -> None:
        self._held: list[dict[str, Any]] = []
        self._chunks: list[pa.RecordBatch] = []

    def add(self, **values: Any) -> None:
        """One trial; keys are names of ROWS, those left out are unknown. `item_id` and `line` must be there."""
        self._held.append(values)
        if len(self._held) >= _CHUNK:
            self._pack()

    def batch(self, columns: Mapping[str, Any], length: int) -> None:
        """Many trials as whole columns (Arrow arrays or lists) of one length."""
        self._pack()
        made = [
            columns[f.name]
            if isinstance(columns.get(f.name), pa.Array)
            else pa.array(columns[f.name], f.type)
            if f.name in columns
            else pa.repeat(pa.scalar(_DEFAULTS[f.name], f.type), length)
            if f.name in _DEFAULTS
            else _nulls(length, f.type)
            for f in ROWS
        ]
        self._chunks.append(pa.RecordBatch.from_arrays(made, schema=ROWS))

    def _pack(self) -> None:
        if not self._held:
            return
        held, self._held = self._held, []
        odd = {name for row in held for name in row} - set(ROWS.names)
        if odd:
            raise ValueError(f"no such columns: {sorted(odd)}")
        named = {f.name: [row.get(f.name, _DEFAULTS.get(f.name)) for row in held] for f in ROWS}
        self.batch(named, len(held))

    def table(self) -> pa.Table:
        """All rows so far."""
        self._pack()
        return pa.Table.from_batches(self._chunks, ROWS)


@dataclass(frozen=True)
class Patch:
    """What one trial changed, as a unified diff."""

    item_id: str
    arm: str | None
    repeat: int | None
    diff: bytes


@dataclass(frozen=True)
class Planned:
    """What a log's own plan says should be there: item to (stratum or None, placebo), and repeats of each."""

    items: Mapping[str, tuple[str | None, bool]]
    repeats: int


@dataclass(frozen=True)
class Reading:
    """A log as it was read. `facts`: arm label (or "") to what the log says of that arm, all as text, from these keys:
    name, version, harness, oracle, tools, time_budget, model, temperature, run. `legacy`: another gate's own words."""

    rows: pa.Table
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    patches: Sequence[Patch] = ()
    planned: Planned | None = None
    excluded: Sequence[tuple[str, str, str | None]] = ()  # (item, rule, time) as the log itself excluded
    registered: Sequence[str] | None = None  # rules that the log's own plan registered, where it has such
    legacy: Mapping[str, Any] = field(default_factory=dict)


FACTS = ("name", "version", "harness", "oracle", "tools", "time_budget", "model", "temperature", "run")


@dataclass(frozen=True)
class Options:
    """What people say beside the logs. `columns`: our name to theirs. `threshold`: the least score that passes."""

    strata: str | None = None  # a field of the log
    columns: Mapping[str, str] = field(default_factory=dict)
    threshold: Fraction | None = None
    infra_errors: Sequence[str] = ()  # texts or error classes that the harness's own faults carry, declared beforehand
    protocol: Mapping[str, Any] = field(default_factory=dict)  # as given, for gates of other formats
    filter: str | None = None  # which of several scorers or filters counts


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a log, or worth knowing of it."""

    kind: str
    where: str
    found: str
    count: int = 1
    items: tuple[str, ...] = ()


class Notes:
    """Findings as they come up, in order."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def add(self, kind: str, where: object, found: str, count: int = 1, items: Sequence[str] = ()) -> None:
        """Note one. `kind` is a name of FINDINGS_OF_READ; `items` are sorted, the first 50 are kept."""
        FINDINGS_OF_READ[kind]
        self.findings.append(Finding(kind, str(where), found, count, tuple(sorted(set(items))[:50])))


@dataclass(frozen=True)
class Format:
    """One foreign format. `sniff` looks at a path's name and first bytes; `read` reads all paths of one arm, or of
    both where `both_arms` (its rows then name their arm)."""

    name: str
    sniff: Callable[[Path], bool]
    read: Callable[[Sequence[Path], Options, Notes], Reading]
    both_arms: bool = False
