"""All formats, the particular ones first: whatever looks like none of them may still be a plain table."""

from __future__ import annotations

from stages.ingest import (
    aider,
    harbor,
    inspect_log,
    lm_eval,
    openhands,
    promptfoo,
    session_gate,
    swebench,
    table,
    terminal_bench,
    trial_budget,
)
from stages.ingest.model import Format

FORMATS: list[Format] = [
    inspect_log.FORMAT,
    harbor.FORMAT,
    terminal_bench.FORMAT,
    openhands.FORMAT,
    swebench.FORMAT,
    lm_eval.FORMAT,
    promptfoo.FORMAT,
    aider.FORMAT,
    session_gate.FORMAT,
    trial_budget.FORMAT,
    table.FORMAT,
]
