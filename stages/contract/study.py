"""Reading a study's own files: parameters, plan, manifest, admitted items, tables checked against the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from stages.contract import layout, parquet, tables
from stages.contract.errors import InputError
from stages.contract.plan import Manifest, Plan
from stages.contract.protocol import Params
from stages.contract.text import read_json, read_yaml
from stages.contract.trees import Entry
from stages.contract.types import validate


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
    """`data/preflight/admitted.json`: item id to {"admitted": bool, "rule": …, "expected": test ids}."""
    return read_json(root / layout.ADMITTED)


def read_frozen(root: Path, plan: Plan, name: Path) -> pa.Table:
    """One of the three frozen tables, held against the digest in the plan. Raises InputError."""
    schema, expected = {
        layout.ITEMS: (tables.ITEMS, plan.items_rows_sha256),
        layout.TREES: (tables.TREES, plan.trees_rows_sha256),
        layout.HIDDEN: (tables.HIDDEN, plan.hidden_rows_sha256),
    }[name]
    made = parquet.read(root / name, schema)
    found = parquet.rows_sha256(made)
    if found != expected:
        raise InputError(name, f"rows_sha256 {found[:16]}", f"{expected[:16]} as in the plan", "run `dvc repro freeze`")
    return made


def entries(made: pa.Table) -> dict[tuple[str, str], list[Entry]]:
    """(item id, role) to the frozen files of that role, sorted by path."""
    result: dict[tuple[str, str], list[Entry]] = {}
    columns = [made.column(c).to_pylist() for c in ("item_id", "role", "path", "mode", "content")]
    for item_id, role, path, mode, content in zip(*columns, strict=True):
        result.setdefault((item_id, role), []).append(Entry(path, mode, content))
    return {key: sorted(value) for key, value in result.items()}
