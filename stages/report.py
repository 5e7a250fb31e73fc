"""Report: the decision, the figures behind it, and the bill of everything that it was derived from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages.contract import layout, parquet, tables
from stages.contract.bill import PARTS, make_bill, run_bill
from stages.contract.digest import pretty
from stages.contract.files import Outputs, stage
from stages.contract.imported import is_imported

if TYPE_CHECKING:
    from stages.gate import Evidence
    from stages.render.page.page import Shown

INPUTS = [
    *(layout.PLAN, layout.MANIFEST, layout.ADMITTED, layout.CAMPAIGN),
    *(layout.LEDGER, layout.FINDINGS, layout.PAIRS, layout.EXCLUSIONS, layout.CHECKS, layout.REPLACED, layout.TRIALS),
]
OPTIONAL = [name for name, _, _ in PARTS]
MOST_EXCLUSIONS = 1000


def report(root: Path) -> dict[str, Any]:
    """Write decision, metrics, report and bill; return the decision. Pure: the same inputs give the same bytes."""
    inputs = [*layout.IMPORTED, layout.PAIRS, layout.EXCLUSIONS] if is_imported(root) else INPUTS
    with stage(root, inputs, optional=OPTIONAL) as out:
        decision, made = documents(root)
        _write(root, out, made, decision)
    return decision


def documents(root: Path, evidence: Evidence | None = None) -> tuple[dict[str, Any], dict[Path, bytes]]:
    """(decision, what is written of it by path), derived from a study's folder, with nothing written.

    `evidence`: that of the folder, where it was read already.
    """
    from stages.gate import REASONS, RULES
    from stages.render import flat_metrics
    from stages.render.page import html_page

    says = {key: reason.says for key, reason in REASONS.items()} | {key: rule.says for key, rule in RULES.items()}
    changes = {key: reason.change for key, reason in REASONS.items()}
    made = _imported(root, says, changes) if is_imported(root) else _ran(root, says, changes, evidence)
    decision, text, shown = made
    return decision, {
        layout.DECISION: pretty(decision),
        layout.METRICS: pretty(flat_metrics(decision)),
        layout.REPORT_MD: text.encode(),
        layout.REPORT_HTML: html_page(decision, shown).encode(),
    }


def _ran(
    root: Path, says: dict[str, str], changes: dict[str, str], evidence: Evidence | None
) -> tuple[dict[str, Any], str, Shown]:
    from stages.gate import bootstrap_shape, cross_check, decide_study, read_evidence
    from stages.render import markdown
    from stages.render.page.page import Shown

    evidence = evidence or read_evidence(root)
    decision = decide_study(evidence)
    ledger = parquet.read(root / layout.LEDGER, tables.LEDGER).to_pylist()
    exclusions = parquet.read(root / layout.EXCLUSIONS, tables.EXCLUSIONS).to_pylist()
    findings = parquet.read(root / layout.FINDINGS, tables.FINDINGS).to_pylist()
    pairs = parquet.read(root / layout.PAIRS, tables.PAIRS)
    text = markdown(decision, says, changes, exclusions, findings, ledger, cross_check(evidence))
    return decision, text, Shown(says, changes, exclusions, findings, pairs, ledger, bootstrap_shape(evidence))


def _imported(root: Path, says: dict[str, str], changes: dict[str, str]) -> tuple[dict[str, Any], str, Shown]:
    """The same of a study that was read from logs."""
    from stages.gate import decide_imported, imported_findings, read_imported_evidence
    from stages.render import imported_markdown
    from stages.render.page.page import Shown

    decision = decide_imported(read_imported_evidence(root))
    rows = parquet.read(root / layout.EXCLUSIONS, tables.EXCLUSIONS).slice(0, MOST_EXCLUSIONS).to_pylist()
    findings = imported_findings(root).to_pylist()
    pairs = parquet.read(root / layout.PAIRS, tables.PAIRS)
    text = imported_markdown(decision, says, changes, rows, findings)
    return decision, text, Shown(says, changes, rows, findings, pairs)


def _write(root: Path, out: Outputs, made: dict[Path, bytes], decision: dict[str, Any]) -> None:
    bill = make_bill(root, made, decision)
    for name, data in made.items():
        out.bytes(name, data)
    out.bytes(layout.BILL, pretty(bill))
    out.bytes(layout.RUN_BILL, run_bill(bill, pretty(bill)))
