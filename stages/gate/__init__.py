"""What counts and what is decided: exclusion rules, pairs, the publish rule, reasons."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stages.gate.crosscheck import cross_check
    from stages.gate.decision import decide_study
    from stages.gate.events import Event, judge_event, read_events
    from stages.gate.evidence import Evidence
    from stages.gate.exclude import apply_rules
    from stages.gate.imported import (
        apply_import_rules,
        decide_imported,
        imported_evidence,
        imported_findings,
        read_imported_evidence,
    )
    from stages.gate.ledger import ledger_row, runner_changes
    from stages.gate.planned import planned_mde80
    from stages.gate.reading import read_evidence
    from stages.gate.reasons import PUBLISHED, REASONS, RULES
    from stages.gate.shape import bootstrap_shape
    from stages.gate.verdict import Verdict, decide

_HOME = {
    "Evidence": "evidence",
    "planned_mde80": "planned",
    "read_evidence": "reading",
    "bootstrap_shape": "shape",
    "cross_check": "crosscheck",
    "decide": "verdict",
    "decide_study": "decision",
    "apply_import_rules": "imported",
    "decide_imported": "imported",
    "imported_evidence": "imported",
    "imported_findings": "imported",
    "read_imported_evidence": "imported",
    "Event": "events",
    "judge_event": "events",
    "read_events": "events",
    "apply_rules": "exclude",
    "ledger_row": "ledger",
    "runner_changes": "ledger",
    "PUBLISHED": "reasons",
    "REASONS": "reasons",
    "RULES": "reasons",
    "Verdict": "verdict",
}
__all__ = [
    "PUBLISHED",
    "REASONS",
    "RULES",
    "Event",
    "Evidence",
    "Verdict",
    "apply_import_rules",
    "apply_rules",
    "bootstrap_shape",
    "cross_check",
    "decide",
    "decide_imported",
    "decide_study",
    "imported_evidence",
    "imported_findings",
    "judge_event",
    "ledger_row",
    "planned_mde80",
    "read_events",
    "read_evidence",
    "read_imported_evidence",
    "runner_changes",
]


def __getattr__(name: str) -> object:
    """Import a public name from its module on first use, so that pandas is loaded only where it is needed."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
