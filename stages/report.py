"""Report: the decision, the figures behind it, and the bill of everything that it was derived from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stages.contract import layout, parquet, tables
from stages.contract.bill import PARTS, make_bill, run_bill
from stages.contract.digest import pretty
from stages.contract.files import stage

INPUTS = [
    *(layout.PLAN, layout.MANIFEST, layout.ADMITTED, layout.CAMPAIGN),
    *(layout.LEDGER, layout.FINDINGS, layout.PAIRS, layout.EXCLUSIONS, layout.CHECKS),
]
OPTIONAL = [name for name, _, _ in PARTS]


def report(root: Path) -> dict[str, Any]:
    """Write decision, metrics, report and bill; return the decision. Pure: the same inputs give the same bytes."""
    from stages.gate import REASONS, RULES, cross_check, decide_study, read_evidence
    from stages.render import flat_metrics, markdown

    with stage(root, INPUTS, optional=OPTIONAL) as out:
        evidence = read_evidence(root)
        decision = decide_study(evidence)
        ledger = parquet.read(root / layout.LEDGER, tables.LEDGER)
        exclusions = parquet.read(root / layout.EXCLUSIONS, tables.EXCLUSIONS)
        findings = parquet.read(root / layout.FINDINGS, tables.FINDINGS).to_pylist()
        says = {key: reason.says for key, reason in REASONS.items()} | {key: rule.says for key, rule in RULES.items()}
        changes = {key: reason.change for key, reason in REASONS.items()}
        made = {
            layout.DECISION: pretty(decision),
            layout.METRICS: pretty(flat_metrics(decision)),
            layout.REPORT_MD: markdown(
                decision, says, changes, exclusions.to_pylist(), findings, ledger.to_pylist(), cross_check(evidence)
            ).encode(),
        }
        bill = make_bill(root, made, decision)
        for name, data in made.items():
            out.bytes(name, data)
        out.bytes(layout.BILL, pretty(bill))
        out.bytes(layout.RUN_BILL, run_bill(bill, pretty(bill)))
    return decision
