"""Exclude: what isn't counted, by rules that were registered and never look at an outcome; pairs of what is."""

from __future__ import annotations

from pathlib import Path

from stages.contract import layout, parquet, tables
from stages.contract.files import stage
from stages.contract.imported import is_imported
from stages.contract.study import read_admitted, read_frozen, read_manifest, read_plan
from stages.contract.text import read_json


def exclude(root: Path) -> None:
    """Write pairs and exclusions. Pure: the same inputs give the same bytes."""
    from stages.gate import apply_import_rules, apply_rules, read_events

    if is_imported(root):
        with stage(root, layout.IMPORTED) as out:
            made, rows = apply_import_rules(root)
            out.table(layout.PAIRS, made)
            out.table(layout.EXCLUSIONS, parquet.table(tables.EXCLUSIONS, rows))
        return
    inputs = [layout.PLAN, layout.MANIFEST, layout.ITEMS, layout.ADMITTED, layout.CHECKS]
    inputs += [layout.LEDGER, layout.CAMPAIGN, layout.REPLACED]
    with stage(root, inputs, optional=[layout.EVENTS]) as out:
        plan = read_plan(root)
        read_frozen(root, plan, layout.ITEMS)  # what a reader sees beside the pairs is what was frozen
        pairs, exclusions = apply_rules(
            plan,
            read_manifest(root),
            parquet.read(root / layout.LEDGER, tables.LEDGER).to_pylist(),
            read_admitted(root),
            parquet.read(root / layout.CHECKS, tables.CHECKS).to_pylist(),
            read_json(root / layout.CAMPAIGN),
            read_events(root),
            parquet.read(root / layout.REPLACED, tables.REPLACED).to_pylist(),
        )
        out.table(layout.PAIRS, parquet.table(tables.PAIRS, pairs))
        out.table(layout.EXCLUSIONS, parquet.table(tables.EXCLUSIONS, exclusions))
