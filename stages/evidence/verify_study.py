"""A study that ran, derived again: frozen ids, trials, ledger, pairs and exclusions, decision and report."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from stages.contract import layout, parquet, tables
from stages.contract.errors import InputError
from stages.contract.plan import Manifest, Plan
from stages.contract.study import read_admitted, read_manifest, read_plan
from stages.contract.text import read_json
from stages.evidence.checking import Check, compare_json, compare_tables
from stages.evidence.opening import REPORTS, Opened
from stages.evidence.registration import registration_check
from stages.evidence.verify_bill import check_bill_ids, read_bill, require_files
from stages.evidence.verify_frozen import frozen_check, preflight_check
from stages.evidence.verify_trials import bounded_trials, ledger_check, trials_check

if TYPE_CHECKING:
    from stages.gate import Evidence

NEEDED = [
    *(layout.PLAN, layout.MANIFEST, layout.ITEMS, layout.TREES, layout.ADMITTED, layout.CHECKS),
    *(layout.TRIALS, layout.PATCHES, layout.STAMPS, layout.TRANSCRIPTS, layout.REPLACED, layout.CAMPAIGN),
    *(layout.LEDGER, layout.FINDINGS, layout.VERDICTS, layout.PAIRS, layout.EXCLUSIONS),
    *REPORTS,
]


def study_checks(
    found: Opened, deep: bool, tsa: Path | None, say: Callable[[str], None]
) -> tuple[list[Check], dict[str, Any]]:
    """(checks, the decision that was derived). Raises WeighbridgeError where a file can't be read."""
    root = found.root
    require_files(root, NEEDED)
    plan, manifest = read_plan(root), read_manifest(root)
    campaign, admitted = read_json(root / layout.CAMPAIGN), read_admitted(root)
    ledger = parquet.read(root / layout.LEDGER, tables.LEDGER)
    trials = bounded_trials(root, plan)
    kept, evidence = _kept_check(root, plan, manifest, admitted, campaign, ledger)
    checks = [
        frozen_check(found, plan, manifest),
        preflight_check(root, admitted),
        trials_check(plan, campaign, admitted, trials),
        ledger_check(root, plan, manifest, admitted, ledger, trials),
        kept,
        registration_check(root, plan, manifest, campaign, tsa, history=found.bundle is None),
    ]
    if any(check.differs for check in checks):
        # Report refuses what doesn't belong together, in words of its own; the first thing that differs is named here.
        return checks, read_json(root / layout.DECISION)
    decided, decision = decided_check(root, evidence)
    checks.append(decided)
    if deep:
        from stages.evidence.verify_deep import deep_checks

        checks += deep_checks(found, plan, manifest, say)
    return checks, decision


def _kept_check(
    root: Path, plan: Plan, manifest: Manifest, admitted: dict[str, Any], campaign: dict[str, Any], ledger: pa.Table
) -> tuple[Check, Evidence | None]:
    """(the check, the evidence of the folder, which is only to be had where all of it is derived alike)."""
    from stages.gate import apply_rules, read_events, read_evidence

    check = Check("exclusions", "pairs and exclusions, derived from the ledger by the registered rules")
    try:
        evidence = read_evidence(root)
        check.note = f"{int(evidence.pairs['kept'].sum())} of {len(evidence.pairs)} pairs kept"
        return check, evidence
    except InputError:  # said once more below, row by row
        pass
    pairs, exclusions = apply_rules(
        plan,
        manifest,
        ledger.to_pylist(),
        admitted,
        parquet.read(root / layout.CHECKS, tables.CHECKS).to_pylist(),
        campaign,
        read_events(root),
        parquet.read(root / layout.REPLACED, tables.REPLACED).to_pylist(),
    )
    for name, schema, rows in (
        (layout.PAIRS, tables.PAIRS, pairs),
        (layout.EXCLUSIONS, tables.EXCLUSIONS, exclusions),
    ):
        stored, derived = parquet.read(root / name, schema), parquet.table(schema, rows)
        compare_tables(check, name, stored, derived, "ledger and rules give")
    return check, None


def decided_check(root: Path, evidence: Evidence | None = None) -> tuple[Check, dict[str, Any]]:
    """(the check, the decision) of decision, metrics and report, derived again from the tables."""
    from stages.report import documents

    check = Check("decision", "decision, metrics and report, derived from the tables")
    decision, made = documents(root, evidence)
    compare_json(check, str(layout.DECISION), read_json(root / layout.DECISION), decision)
    check_bill_ids(check, read_bill(root), decision)
    for name, data in made.items():
        stored = (root / name).read_bytes()
        if stored == data or check.full():
            continue
        if name == layout.REPORT_HTML and _bare(stored) == _bare(data):
            check.unread.append("the page's pictures were drawn by another version of the drawing library")
            continue
        check.differs.append(f"{name}: line {_line(stored, data)} isn't what the decision gives")
    check.note = f"{decision['decision']} ({decision['reason']})"
    return check, decision


_DRAWN = re.compile(rb"<svg\b.*?</svg>", re.DOTALL)
_HARM = re.compile(
    rb"<(?!/?(svg|g|path|text|tspan|rect|line|circle|defs|title|desc|clipPath|pattern)\b)|\bon\w+=|href", re.I
)


def _bare(page: bytes) -> bytes:
    """The page without what is drawn in it, whose bytes hang on the version of a library; what acts isn't drawn."""
    return _DRAWN.sub(lambda found: found[0] if _HARM.search(found[0]) else b"", page)


def _line(one: bytes, two: bytes) -> int:
    pairs = zip(one.split(b"\n"), two.split(b"\n"), strict=False)
    return next((n for n, (a, b) in enumerate(pairs, start=1) if a != b), min(one.count(b"\n"), two.count(b"\n")) + 1)
