"""Patches that a log holds: what they assume against an allowlist, and whether they touch more than the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import Field

from stages.contract import imported, parquet, tables
from stages.contract.errors import InputError
from stages.contract.task import Allow
from stages.contract.types import Label, Strict, validate
from stages.contract.yamlfile import read_yaml
from stages.ingest.diffs import only_machinery, parse_diff
from stages.ingest.model import Notes, Patch
from stages.ingest.patch_ledger import patch_ledger

COUNTED = ("generated_lines", "invented_imports", "invented_env", "unauthorised_files", "violations", "extended")
Key = tuple[str, str, int]


class Allowlist(Strict):
    """What solutions may assume: one list for all items, or one per item."""

    allow: Allow | None = None
    items: dict[Label, Allow] = Field(default={})

    def of(self, item: str) -> Allow | None:
        """An item's list; None where it has none."""
        return self.items.get(item, self.allow)


@dataclass(frozen=True)
class Assumed:
    """`counts`: trial to the ledger's counts. `machinery`: trials whose patch touches only the tests' own files."""

    counts: Mapping[Key, Mapping[str, int]]
    findings: pa.Table
    machinery: frozenset[Key]


def read_allowlist(path: Path | None) -> Allowlist | None:
    """`allow` for all items, `items` with one for each; or a file that is an allowlist itself. Raises InputError."""
    if path is None:
        return None
    value = read_yaml(path)
    bare = isinstance(value, dict) and not {"allow", "items"} & value.keys()
    return validate(Allowlist, {"allow": value} if bare else value, path)


def read_patches(patches: Sequence[tuple[str, Patch]], allowed: Allowlist | None, notes: Notes) -> Assumed:
    """Patches with our names of their arms. One that is no diff is noted, and has no counts."""
    counts: dict[Key, dict[str, int]] = {}
    rows: list[dict[str, Any]] = []
    machinery: set[Key] = set()
    unread: list[str] = []
    lines = 0
    for arm, patch in patches:
        key = (patch.item_id, arm, patch.repeat or 0)
        if not patch.diff.strip():
            files = []
        else:
            try:
                files = parse_diff(patch.diff, f"patch of {patch.item_id}")
            except InputError:
                unread.append(patch.item_id)
                continue
        if files and only_machinery(files):
            machinery.add(key)
        allow = None if allowed is None else allowed.of(patch.item_id)
        if allow is None or key in counts:
            continue
        found = patch_ledger(files, allow, f"patch of {patch.item_id}")
        counts[key] = {name: found.counts()[name] for name in COUNTED}
        lines += found.unread_lines
        where = dict(zip(("item_id", "arm", "repeat"), key, strict=True))
        rows += [{**where, "seen": "static", **row} for row in found.rows()]
    if unread:
        notes.add(
            "unread_patches", "patches", f"{len(unread)} patches are no diffs that can be read", len(unread), unread
        )
    if lines:
        notes.add("unread_patches", "patches", f"{lines} added lines stand in pieces that can't be parsed alone", lines)
    made = [{f.name: row[f.name] for f in tables.FINDINGS} for row in rows]
    return Assumed(counts, parquet.table(tables.FINDINGS, made), frozenset(machinery))


def with_assumptions(ledger: pa.Table, found: Assumed, notes: Notes) -> pa.Table:
    """The ledger with counts of its trials, and passes that rest on the tests' own files as broken."""
    if not found.counts and not found.machinery:
        return ledger
    keys = list(zip(*(ledger[name].to_pylist() for name in ("item_id", "arm", "repeat")), strict=True))
    made = ledger
    for name in COUNTED if found.counts else ():
        column = [found.counts[key][name] if key in found.counts else None for key in keys]
        made = _put(made, name, column)
    status = ledger["status"].to_pylist()
    broken = [at for at, key in enumerate(keys) if key in found.machinery and status[at] == "passed"]
    if broken:
        ids = [keys[at][0] for at in broken]
        notes.add(
            "machinery_only", "patches", f"{len(broken)} passes by patches of the tests' own files", len(broken), ids
        )
        passed = ledger["passed"].to_pylist()
        for at in broken:
            status[at], passed[at] = "broken", 0
        made = _put(_put(made, "status", status), "passed", passed)
    return made


def _put(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    at = imported.LEDGER.get_field_index(name)
    return table.set_column(at, imported.LEDGER.field(name), pa.array(values, imported.LEDGER.field(name).type))
