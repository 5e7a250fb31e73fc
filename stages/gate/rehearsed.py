"""What was rehearsed on this pack: the last A/A of this control, and items that a pilot has already run."""

from __future__ import annotations

from typing import Any

from stages.contract.rehearsals import latest_aa, piloted
from stages.gate.evidence import Evidence


def rehearsed(ev: Evidence, benchmark: bool) -> dict[str, Any]:
    """`aa` is null with a sibling why where none was run, or where a study shows no figures; `piloted` are item ids."""
    control = ev.plan.arms.control
    found = latest_aa(ev.rehearsals, ev.plan.pack_sha256, control.name, control.version)
    items = {"piloted": piloted(ev.rehearsals, ev.plan.items)}
    if found is None:
        return {"aa": None, "aa_why": "never run on this pack with this control", **items}
    if not benchmark:
        return {"aa": None, "aa_why": "a study that is no benchmark shows no figures", **items}
    names = ("at", "decision", "reason", "would_publish", "delta", "lo", "hi", "alpha_spent", "items_kept")
    return {"aa": {name: getattr(found, name) for name in names}, **items}
