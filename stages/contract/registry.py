"""The registry: `data/registry.jsonl`, an entry a line, each with the digest of the line before it.

A registered entry names a frozen study before its first trial. There is no clock in it: git's dates are the author's
own word, and a time-stamping authority's token (RFC 3161) is a witness's. Lines are canonical JSON and are only ever
appended; one that is missing, changed or put in breaks the chain, and is named.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, field_validator

from stages.contract import layout
from stages.contract.digest import canonical, sha256
from stages.contract.errors import InputError
from stages.contract.plan import Manifest, Plan
from stages.contract.task import Sha256
from stages.contract.text import decode, parse_json
from stages.contract.types import Id, Strict, Whole, validate

MAX_BYTES = 64 * 1024 * 1024
MAX_LINE_CHARS = 16 * 1024 * 1024
MAX_TOKEN_BYTES = 64 * 1024
_TODO = "restore the file as git has it; lines are only ever appended, by `weighbridge register`"


class _Entry(Strict):
    schema_: Annotated[Literal["weighbridge.registry/1"], Field(alias="schema")] = "weighbridge.registry/1"
    previous: Sha256 | None


class Item(Strict):
    rev: Id
    sha256: Sha256


class Registered(_Entry):
    """A study that was frozen and named before its trials. `token`: base64 of a time-stamp response over this entry
    without it; `tsa`: the root certificate, as PEM, under which it verifies."""

    kind: Literal["registered"] = "registered"
    manifest_sha256: Sha256
    plan_sha256: Sha256
    slice_id: Sha256
    study_id: Sha256
    pack_id: Id
    pack_revision: Id
    pack_sha256: Sha256
    mutation_seed: Whole | None
    control: Id
    candidate: Id
    campaign: Id
    look: Annotated[Whole, Field(ge=1)]
    items: dict[Id, Item]
    token: str | None = None
    tsa: Annotated[str, Field(max_length=MAX_TOKEN_BYTES)] | None = None

    @field_validator("token")
    @classmethod
    def _base64(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                held = base64.b64decode(value, validate=True)
            except (binascii.Error, ValueError):
                raise ValueError("base64 of a time-stamp response") from None
            if len(held) > MAX_TOKEN_BYTES:
                raise ValueError(f"at most {MAX_TOKEN_BYTES:,} bytes")
        return value

    def stamped(self) -> bytes:
        """What a time-stamping authority stamps: the entry as it is without token."""
        return canonical(_dump(self.model_copy(update={"token": None, "tsa": None})))


class Withdrawn(_Entry):
    """The author's word that no trial of an entry was ever run."""

    kind: Literal["withdrawn"] = "withdrawn"
    entry: Sha256


class Result(_Entry):
    """What became of a registered study."""

    kind: Literal["result"] = "result"
    entry: Sha256
    manifest_sha256: Sha256
    decision_sha256: Sha256
    decision: Literal["publish", "withhold"]
    reason: Annotated[str, Field(max_length=100)]


Entry = Registered | Withdrawn | Result
_KINDS: dict[str, type[Registered] | type[Withdrawn] | type[Result]] = {
    "registered": Registered,
    "withdrawn": Withdrawn,
    "result": Result,
}


@dataclass(frozen=True)
class Line:
    """One entry with its place, from 1, and the digest of its line."""

    number: int
    sha256: str
    entry: Entry


def _dump(entry: Entry) -> dict[str, Any]:
    return dict(entry.model_dump(mode="json", by_alias=True))


def line_of(entry: Entry) -> bytes:
    """The one line of an entry, without its end."""
    return canonical(_dump(entry))


def parse_entry(where: object, data: bytes) -> Entry:
    """An entry. Raises InputError."""
    value = parse_json(where, data)
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind not in _KINDS:
        raise InputError(where, f"kind {kind}", f"an entry of kind {', '.join(_KINDS)}", _TODO)
    return TypeAdapter(Entry).validate_python(validate(_KINDS[str(kind)], value, where))


def read_chain(data: bytes, name: object = layout.REGISTRY) -> list[Line]:
    """All lines, the chain checked. Raises InputError naming the line at which it breaks, and how."""
    if len(data) > MAX_BYTES:
        raise InputError(name, f"is larger than {MAX_BYTES:,} bytes", f"at most {MAX_BYTES:,}")
    text = decode(name, data)
    if text and not text.endswith("\n"):
        raise InputError(f"{name}:{text.count(chr(10)) + 1}", "ends within a line", "whole lines", _TODO)
    lines: list[Line] = []
    seen: dict[str | None, int] = {}
    for number, one in enumerate(text.split("\n")[:-1], start=1):
        where = f"{name}:{number}"
        if len(one) > MAX_LINE_CHARS:
            raise InputError(where, f"a line of {len(one):,} characters", f"at most {MAX_LINE_CHARS:,}")
        entry = parse_entry(where, one.encode())
        if line_of(entry) != one.encode():
            raise InputError(where, "isn't canonical JSON", "the line as `weighbridge register` wrote it", _TODO)
        before = lines[-1].sha256 if lines else None
        if entry.previous != before:
            raise InputError(where, _broken(entry.previous, seen, number), "the digest of the line before it", _TODO)
        lines.append(Line(number, sha256(one.encode()), entry))
        seen[lines[-1].sha256] = number
    _check_references(lines, name)
    return lines


def _broken(previous: str | None, seen: dict[str | None, int], number: int) -> str:
    if previous is None:
        return f"begins a chain of its own: {number - 1} lines stand before it"
    if previous in seen:
        return f"forked: it follows line {seen[previous]}, as another line does"
    return f"follows a line {previous[:16]} that isn't there: one was removed or rewritten"


def _check_references(lines: list[Line], name: object) -> None:
    """Withdrawals and results are of registered entries that stand before them; a manifest is registered once."""
    registered: dict[str, Line] = {}
    manifests: dict[str, int] = {}
    for line in lines:
        entry = line.entry
        if isinstance(entry, Registered):
            first = manifests.setdefault(entry.manifest_sha256, line.number)
            if first != line.number:
                raise InputError(f"{name}:{line.number}", f"a manifest that line {first} has", "each one once", _TODO)
            registered[line.sha256] = line
        elif entry.entry not in registered:
            raise InputError(f"{name}:{line.number}", f"entry {entry.entry[:16]}", "a registered one before it", _TODO)


def withdrawn(lines: Iterable[Line]) -> set[str]:
    """Digests of registered entries that were taken back."""
    return {line.entry.entry for line in lines if isinstance(line.entry, Withdrawn)}


def standing(lines: Iterable[Line]) -> list[tuple[Line, Registered]]:
    """Registered entries that weren't taken back, in their order."""
    listed = list(lines)
    gone = withdrawn(listed)
    return [(line, line.entry) for line in listed if isinstance(line.entry, Registered) and line.sha256 not in gone]


def entry_for(manifest_sha256: str, lines: Iterable[Line]) -> tuple[Line, Registered] | None:
    """The standing entry of a manifest, or None."""
    return next((found for found in standing(lines) if found[1].manifest_sha256 == manifest_sha256), None)


def make_entry(plan: Plan, manifest: Manifest, look: int, previous: str | None) -> Registered:
    """The entry of a frozen study."""
    return Registered(
        previous=previous,
        manifest_sha256=manifest.sha256(),
        plan_sha256=plan.sha256(),
        slice_id=manifest.slice_id,
        study_id=manifest.study_id,
        pack_id=plan.pack_id,
        pack_revision=plan.pack_revision,
        pack_sha256=plan.pack_sha256,
        mutation_seed=manifest.mutation_seed,
        control=plan.arms.control.name,
        candidate=plan.arms.candidate.name,
        campaign=plan.campaign,
        look=look,
        items={item.item_id: Item(rev=item.rev, sha256=item.item_sha256) for item in plan.items},
    )
