"""Reasons, rules and findings for people."""

from __future__ import annotations

import difflib
from typing import Any

from stages.contract.errors import UsageError
from stages.contract.findings_of_read import FINDINGS_OF_READ, WITHHOLDING
from stages.gate.reasons import PUBLISHED, REASONS, RULES


def entries() -> list[dict[str, Any]]:
    """All reasons in their order, then all rules, then what logs may be found to be."""
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
    findings = [
        {
            "id": name,
            "kind": "finding of a log",
            "says": says,
            "change": "Sound logs; protocol.withhold_on says which findings withhold." if name in WITHHOLDING else "",
        }
        for name, says in FINDINGS_OF_READ.items()
    ]
    return [published, *reasons, *rules, *findings, family]


def lookup(name: str) -> dict[str, Any]:
    """The entry of that id. Raises UsageError naming the nearest ones."""
    found = {entry["id"]: entry for entry in entries()}
    if name not in found:
        near = difflib.get_close_matches(name, found, n=3)
        raise UsageError(
            "explain",
            f"no reason, rule or finding {name!r}",
            "one that `weighbridge explain` lists",
            f"nearest: {', '.join(near)}" if near else "",
        )
    return found[name]
