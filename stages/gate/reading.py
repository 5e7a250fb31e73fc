"""The evidence of a study's folder. What counts is derived once more from the ledger, not believed of a table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from stages.contract import layout, parquet, tables
from stages.contract.errors import InputError
from stages.contract.rehearsals import read_rehearsals
from stages.contract.study import read_admitted, read_manifest, read_plan
from stages.contract.text import read_json
from stages.gate.events import read_events
from stages.gate.evidence import ARMS, Evidence
from stages.gate.exclude import apply_rules


def read_evidence(root: Path) -> Evidence:
    """Everything that a decision is derived from.

    Raises MissingInput where a file isn't there, InputError where pairs or exclusions aren't what the ledger gives.
    """
    plan, manifest, admitted = read_plan(root), read_manifest(root), read_admitted(root)
    campaign, ledger = read_json(root / layout.CAMPAIGN), parquet.read(root / layout.LEDGER, tables.LEDGER)
    checks = parquet.read(root / layout.CHECKS, tables.CHECKS).to_pylist()
    replaced = parquet.read(root / layout.REPLACED, tables.REPLACED).to_pylist()
    given = apply_rules(plan, manifest, ledger.to_pylist(), admitted, checks, campaign, read_events(root), replaced)
    pairs = same_rows(root, layout.PAIRS, parquet.table(tables.PAIRS, given[0]))
    exclusions = same_rows(root, layout.EXCLUSIONS, parquet.table(tables.EXCLUSIONS, given[1]))
    return Evidence(
        plan=plan,
        manifest=manifest,
        ledger=ledger.to_pandas(),
        pairs=pairs.to_pandas(),
        exclusions=exclusions.to_pandas(),
        admitted=admitted,
        campaign=campaign,
        rehearsals=read_rehearsals(root),
        replaced=replaced,
        interrupted=_interrupted(root),
    )


def _interrupted(root: Path) -> dict[str, int]:
    trials = parquet.read(root / layout.TRIALS, tables.TRIALS).select(["arm", "interrupted"]).to_pylist()
    return {arm: sum(row["interrupted"] for row in trials if row["arm"] == arm) for arm in ARMS}


def same_rows(root: Path, name: Path, derived: pa.Table) -> pa.Table:
    """The stored table, which holds the derived rows. Raises InputError naming the first row that differs."""
    stored = parquet.read(root / name, derived.schema)
    if parquet.rows_sha256(stored) == parquet.rows_sha256(derived):
        return stored
    key = parquet.key_of(derived.schema)
    rows, given = ({tuple(r[k] for k in key): r for r in t.to_pylist()} for t in (stored, derived))
    first = min(k for k in set(rows) | set(given) if rows.get(k) != given.get(k))
    where = f"{name.as_posix()}: {', '.join(map(str, first))}"
    todo = "run `dvc repro exclude`; the table isn't edited by hand"
    if first not in rows or first not in given:
        raise InputError(
            where, "no such row" if first not in rows else "a row", "the rows that ledger and rules give", todo
        )
    column = next(c for c in rows[first] if rows[first][c] != given[first][c])
    raise InputError(
        where, f"{column} {rows[first][column]}", f"{given[first][column]}, as ledger and rules give", todo
    )
