"""What was rehearsed on this pack: the last A/A of this control, and items that a pilot has already run."""

from __future__ import annotations

from typing import Any

from stages.contract.rehearsals import piloted, runs_of
from stages.gate.evidence import Evidence


def rehearsed(ev: Evidence, benchmark: bool) -> dict[str, Any]:
    """`aa` is the last A/A of this control on this slice, beside how many there were and how many crowned a copy.

    It is null with a sibling why where none was run, or where a study shows no figures; `piloted` are item ids.
    """
    control = ev.plan.arms.control
    runs = runs_of(ev.rehearsals, ev.manifest.slice_id, control.name, control.version)
    items = {"piloted": piloted(ev.rehearsals, ev.plan.items)}
    if not runs:
        return {"aa": None, "aa_why": "never run on this slice with this control", **items}
    if not benchmark:
        return {"aa": None, "aa_why": "a study that is no benchmark shows no figures", **items}
    names = ("at", "decision", "reason", "would_publish", "delta", "lo", "hi", "alpha_spent", "items_kept")
    last = {name: getattr(runs[-1], name) for name in names}
    return {"aa": {**last, "runs": len(runs), "crowned": sum(r.failed for r in runs)}, **items}
