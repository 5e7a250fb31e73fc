"""Trials in whose place others ran: their stamps alone must say why, and no more of them than was agreed on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from stages.contract.protocol import Protocol as Agreed
from stages.gate.stamped import own_stamps
from stages.session import first_violation


class Notes(Protocol):
    """Where rows of the exclusion table are put."""

    def add(self, rule: str, scope: str, item_id: str, evidence: str, **more: Any) -> None: ...


def note_replaced(rows: Sequence[dict[str, Any]], agreed: Agreed, out: Notes) -> None:
    """Note each replaced trial, and refuse those that weren't replaced by what their stamps say."""
    for row in rows:
        stamps = own_stamps((row["item_id"], row["arm"], row["repeat"]), row["stamps"])
        found = first_violation(stamps, row["attempts"], agreed)
        why = None
        if found is None:
            why = "its stamps are inside the envelope"
        elif found[0] != row["rule"]:
            why = f"its stamps break {found[0]} first"
        elif not 1 <= row["number"] <= agreed.replace_excluded:
            why = f"replacement {row['number']}, at most {agreed.replace_excluded}"
        out.add(
            row["rule"],
            "replaced",
            row["item_id"],
            f"replacement {row['number']} ran in its place: {found[1] if found else row['found']}",
            **{name: row[name] for name in ("arm", "repeat")},
            time=row["started_at"],
            accepted=why is None,
            refused_why=why,
        )
