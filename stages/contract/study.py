"""Reading a study's own files: parameters, plan, manifest, admitted items, tables checked against the plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from stages.contract import layout, parquet, tables
from stages.contract.errors import InputError
from stages.contract.plan import Admitted, Manifest, Plan, PlanItem
from stages.contract.protocol import Params
from stages.contract.text import read_json
from stages.contract.trees import Change, Entry
from stages.contract.types import validate
from stages.contract.yamlfile import read_yaml


def read_params(root: Path) -> Params:
    """`params.yaml`. Raises InputError naming the key."""
    return validate(Params, read_yaml(root / layout.PARAMS), layout.PARAMS)


def read_plan(root: Path) -> Plan:
    """`data/frozen/plan.json`."""
    return validate(Plan, read_json(root / layout.PLAN), layout.PLAN)


def read_manifest(root: Path) -> Manifest:
    """`data/frozen/manifest.json`."""
    return validate(Manifest, read_json(root / layout.MANIFEST), layout.MANIFEST)


def read_admitted(root: Path) -> dict[str, Any]:
    """`data/preflight/admitted.json`: item id to {"admitted": bool, "rule": …, "expected": test ids}, for this plan."""
    value = read_json(root / layout.ADMITTED)
    found, plan = validate(Admitted, value, layout.ADMITTED), read_plan(root)
    if found.plan_sha256 != plan.sha256() or found.items.keys() != {item.item_id for item in plan.items}:
        raise InputError(layout.ADMITTED, "belongs to another plan", layout.PLAN, "run `dvc repro preflight`")
    return value


def read_frozen(root: Path, plan: Plan, name: Path) -> pa.Table:
    """One of the three frozen tables, held against the digest and the items in the plan. Raises InputError."""
    schema, expected = {
        layout.ITEMS: (tables.ITEMS, plan.items_rows_sha256),
        layout.TREES: (tables.TREES, plan.trees_rows_sha256),
        layout.HIDDEN: (tables.HIDDEN, plan.hidden_rows_sha256),
    }[name]
    made = parquet.read(root / name, schema)
    found = parquet.rows_sha256(made)
    if found != expected:
        raise InputError(name, f"rows_sha256 {found[:16]}", f"{expected[:16]} as in the plan", "run `dvc repro freeze`")
    odd = set(made.column("item_id").to_pylist()) ^ {item.item_id for item in plan.items}
    if odd:
        raise InputError(f"{layout.PLAN}: items", f"{min(odd)} isn't in both", f"the items of {name}", "freeze again")
    return made


def entries(made: pa.Table) -> dict[tuple[str, str], list[Entry]]:
    """(item id, role) to the frozen files of that role, sorted by path."""
    result: dict[tuple[str, str], list[Entry]] = {}
    columns = [made.column(c).to_pylist() for c in ("item_id", "role", "path", "mode", "content")]
    for item_id, role, path, mode, content in zip(*columns, strict=True):
        result.setdefault((item_id, role), []).append(Entry(path, mode, content))
    return {key: sorted(value) for key, value in result.items()}


def read_files(root: Path, plan: Plan) -> dict[tuple[str, str], list[Entry]]:
    """(item id, role) to frozen files, open and hidden ones; all three tables are held against the plan."""
    read_frozen(root, plan, layout.ITEMS)
    return {**entries(read_frozen(root, plan, layout.TREES)), **entries(read_frozen(root, plan, layout.HIDDEN))}


def wheels_of(item: PlanItem, files: dict[tuple[str, str], list[Entry]]) -> dict[str, bytes]:
    """File name to bytes of the wheels of an item's environment, wherever in the frozen tables they lie."""
    if item.environment is None:
        return {}
    held = {entry.sha256: entry.content for (_, role), some in files.items() if role == "wheel" for entry in some}
    missing = sorted(set(item.environment.wheels.values()) - held.keys())
    if missing:
        raise InputError(
            layout.TREES, f"no wheel with sha256 {missing[0][:16]}", "the wheels of the plan", "freeze again"
        )
    return {name: held[found] for name, found in item.environment.wheels.items()}


@dataclass
class Trial:
    """One stored trial: its row, its patch, its stamps (canonical JSON, by attempt), what it printed."""

    row: dict[str, Any]
    changes: list[Change] = field(default_factory=list)
    stamps: list[str] = field(default_factory=list)
    streams: list[bytes] = field(default_factory=list)

    @property
    def judged(self) -> bool:
        """Whether there is a tree to judge: not if the trial was lost, or its patch was too large to keep."""
        return self.row["ended"] != "lost" and not str(self.row["reason"] or "").startswith("patch_too_large")


def read_trials(root: Path) -> list[Trial]:
    """All stored trials with what belongs to them, sorted by key. Raises InputError for a row without a trial."""
    trials = parquet.read(root / layout.TRIALS, tables.TRIALS).to_pylist()
    found = {(t["item_id"], t["arm"], t["repeat"]): Trial(t) for t in trials}

    def owner(name: Path, row: dict[str, Any]) -> Trial:
        key = (row.pop("item_id"), row.pop("arm"), row.pop("repeat"))
        if key not in found:
            raise InputError(name, f"a row of {key}", "rows of trials that are in trials.parquet")
        return found[key]

    for row in parquet.read(root / layout.PATCHES, tables.PATCHES).to_pylist():
        owner(layout.PATCHES, row).changes.append(Change(**row))
    for row in sorted(parquet.read(root / layout.STAMPS, tables.STAMPS).to_pylist(), key=lambda r: int(r["attempt"])):
        owner(layout.STAMPS, row).stamps.append(row["stamp"])
    for row in parquet.read(root / layout.TRANSCRIPTS, tables.TRANSCRIPTS).to_pylist():
        owner(layout.TRANSCRIPTS, row).streams.append(row["content"])
    return [found[key] for key in sorted(found)]
