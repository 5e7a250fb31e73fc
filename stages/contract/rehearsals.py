"""What a study rehearsed: `data/rehearsals.jsonl`, a finished A/A or pilot a line, only ever appended to.

A line is the canonical JSON of its record, so one that was touched by hand is refused and never half believed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from stages.contract import layout
from stages.contract.arm import Word
from stages.contract.digest import canonical
from stages.contract.errors import InputError
from stages.contract.plan import PlanItem
from stages.contract.task import Sha256
from stages.contract.text import decode, parse_json, read_bytes
from stages.contract.types import Id, Strict, Whole, plain, validate

HEADER = '{"schema": "weighbridge.rehearsals/1"}'
MAX_BYTES = 256 * 1024 * 1024
MAX_LINE_CHARS = 32 * 1024 * 1024
"""A record names every item of its pack, up to about 200 characters each."""
TIME = "%Y-%m-%dT%H:%M:%SZ"

Count = Annotated[Whole, Field(ge=0)]
Difference = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=100)]


class Runner(Strict):
    name: Id
    version: Word


class RehearsedItem(Strict):
    """A real item of the pack, as the study's own pack holds it."""

    item_id: Id
    item_sha256: Sha256


class Harness(Strict):
    version: Word
    python: Word
    system: Word


class PerArm(Strict):
    candidate: Count
    control: Count


class _Record(Strict):
    """What both kinds say. `id` names the folder below the journal's; `pack_sha256` and `slice_id` are the study's."""

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    at: str
    pack_id: Id
    pack_revision: Id
    pack_sha256: Sha256
    slice_id: Sha256
    control: Runner
    items: Annotated[list[RehearsedItem], Field(min_length=1)]

    @field_validator("at")
    @classmethod
    def _time(cls, value: str) -> str:
        try:
            same = datetime.strptime(value, TIME).strftime(TIME) == value
        except ValueError:
            same = False
        if not same:
            raise ValueError("a time in UTC, such as 2026-01-31T12:00:00Z")
        return value

    @field_validator("items")
    @classmethod
    def _once(cls, value: list[RehearsedItem]) -> list[RehearsedItem]:
        ids = [item.item_id for item in value]
        if sorted(set(ids)) != ids:
            raise ValueError("each item once, sorted by item_id")
        return value


class AaRecord(_Record):
    """The control against itself. `would_publish`: the figures crowned one copy, whatever else withheld it.

    The figures are null where the study shows none (a tutorial), or where no interval could be computed.
    """

    kind: Literal["aa"]
    decision: Literal["publish", "withhold"]
    reason: Name
    reasons: list[Name]
    would_publish: bool
    delta: Difference | None
    lo: Difference | None
    hi: Difference | None
    alpha_spent: Annotated[float, Field(gt=0, lt=1)] | None
    items_kept: Count
    isolation: list[Literal["namespaces", "none"]]
    harness: Harness

    @model_validator(mode="after")
    def _fits(self) -> AaRecord:
        if self.decision == "publish" and not self.would_publish:
            raise ValueError("would_publish true where the decision is publish")
        if (self.lo is None) != (self.hi is None):
            raise ValueError("lo and hi, or neither")
        if (
            self.lo is not None
            and self.hi is not None
            and not (self.delta is not None and self.lo <= self.delta <= self.hi)
        ):
            raise ValueError("lo, delta and hi in this order")
        if self.reasons != ([] if self.decision == "publish" else [self.reason, *self.reasons[1:]]):
            raise ValueError("reasons: none where the decision is publish, else with the reason in front")
        if self.items_kept > len(self.items):
            raise ValueError("items_kept of the items")
        return self

    @property
    def failed(self) -> bool:
        """Whether the harness was caught: it crowned a copy of the control, or let a placebo pass."""
        return self.would_publish or "placebo_passed" in self.reasons


class PilotRecord(_Record):
    """A few items, both arms, never a look. `trials` counts those of kept pairs, `passes` those of them that passed."""

    kind: Literal["pilot"]
    candidate: Runner
    trials: PerArm
    passes: PerArm

    @model_validator(mode="after")
    def _fits(self) -> PilotRecord:
        if self.passes.candidate > self.trials.candidate or self.passes.control > self.trials.control:
            raise ValueError("no more passes than trials")
        return self


Record = AaRecord | PilotRecord
_MODELS: dict[object, type[AaRecord] | type[PilotRecord]] = {"aa": AaRecord, "pilot": PilotRecord}


def read_rehearsals(root: Path) -> list[Record]:
    """Every record in the order of the file; no file means none. Raises InputError naming file and line."""
    path = root / layout.REHEARSALS
    if not path.exists():
        return []
    lines = decode(layout.REHEARSALS, read_bytes(path, MAX_BYTES)).split("\n")
    if lines[-1] == "":
        lines.pop()
    if lines and lines[0] != HEADER:
        raise InputError(f"{layout.REHEARSALS}:1", f"found {lines[0][:80]!r}", HEADER, "restore the file from git")
    records = [_parsed(f"{layout.REHEARSALS}:{number}", line) for number, line in enumerate(lines[1:], start=2)]
    seen: set[tuple[str, str]] = set()
    for number, record in enumerate(records, start=2):
        if (record.kind, record.id) in seen:
            raise InputError(
                f"{layout.REHEARSALS}:{number}: id", f"{record.id} once more", "each once", "restore the file"
            )
        seen.add((record.kind, record.id))
    return records


def _parsed(where: str, line: str) -> Record:
    if len(line) > MAX_LINE_CHARS:
        raise InputError(where, f"a line of {len(line):,} characters", f"at most {MAX_LINE_CHARS:,}")
    value = parse_json(where, line.encode())
    kind = value.get("kind") if isinstance(value, dict) else None
    model = _MODELS.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise InputError(f"{where}: kind", f"found {kind!r}", "aa or pilot", "restore the line from git")
    record = validate(model, value, where)
    if canonical(plain(record)).decode() != line:
        raise InputError(where, "was edited: it isn't in canonical form", "the line as it was written", "restore it")
    return record


def append_rehearsal(root: Path, record: Record) -> None:
    """Add a line; whatever happens, the file holds the old lines, byte for byte, with the new one or without it.

    Raises InputError where the file can't be read or written.
    """
    import fcntl  # not on every system, and only writers need it

    path = root / layout.REHEARSALS
    line = canonical(plain(record))
    if len(line) > MAX_LINE_CHARS:
        raise InputError(layout.REHEARSALS, f"a record of {len(line):,} bytes", f"at most {MAX_LINE_CHARS:,}")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)  # two rehearsals may end at once
            read_rehearsals(root)
            before = (path.read_bytes() if path.exists() else b"") or HEADER.encode()
            with temporary.open("wb") as stream:
                stream.write(before + (b"" if before.endswith(b"\n") else b"\n") + line + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
            os.fsync(folder)
        finally:
            temporary.unlink(missing_ok=True)
            os.close(folder)
    except OSError as error:
        raise InputError(layout.REHEARSALS, f"can't be written ({error.strerror})", "a file to append to") from None


def runs_of(records: Iterable[Record], slice_id: str, control_name: str, control_version: str) -> list[AaRecord]:
    """Every A/A of this control on this very slice, in the order in which they were recorded; none: never run."""
    control = Runner(name=control_name, version=control_version)
    return [r for r in records if isinstance(r, AaRecord) and (r.slice_id, r.control) == (slice_id, control)]


def piloted(records: Iterable[Record], plan_items: Iterable[PlanItem]) -> list[str]:
    """Ids of the plan's items that a pilot ran, sorted; an item edited since then counts by its id."""
    seen = {name for r in records if isinstance(r, PilotRecord) for i in r.items for name in (i.item_id, i.item_sha256)}
    return sorted(item.item_id for item in plan_items if not item.placebo and {item.item_id, item.item_sha256} & seen)
