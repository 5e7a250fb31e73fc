"""Reasons and rules for people."""

from __future__ import annotations

import difflib
from typing import Any

from stages.contract.errors import UsageError
from stages.gate.reasons import PUBLISHED, REASONS, RULES


def entries() -> list[dict[str, Any]]:
    """All reasons in their order, then all rules."""
    published = {
        "id": PUBLISHED,
        "kind": "published",
        "says": "Every rule holds: the blocked difference on this slice may be published, and nothing beyond it.",
        "change": "",
    }
    family = {
        "id": "not_reached",
        "kind": "step of a family",
        "says": "An earlier step of Holm's procedure wasn't published, so this study stays as it decided alone.",
        "change": "",
    }
    reasons = [{"id": r.id, "kind": "reason to withhold", "says": r.says, "change": r.change} for r in REASONS.values()]
    rules = [{"id": r.id, "kind": f"{r.scope} rule", "says": r.says, "change": ""} for r in RULES.values()]
    return [published, *reasons, *rules, family]


def lookup(name: str) -> dict[str, Any]:
    """The entry of that id. Raises UsageError naming the nearest ones."""
    found = {entry["id"]: entry for entry in entries()}
    if name not in found:
        near = difflib.get_close_matches(name, found, n=3)
        raise UsageError(
            "explain",
            f"no reason or rule {name!r}",
            "one that `weighbridge explain` lists",
            f"nearest: {', '.join(near)}" if near else "",
        )
    return found[name]
