"""`metrics.json`: what becomes columns of `dvc exp show`.

Figures of a withheld study stand under `withheld`, those of a published one under `published`, so that a sorted table
isn't a ranking of refused numbers. Lists and nulls are left out, since DVC drops them in silence.
"""

from __future__ import annotations

from typing import Any


def _some(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def flat_metrics(decision: dict[str, Any]) -> dict[str, Any]:
    """Nested objects of numbers, booleans and short strings."""
    summary, counts, arms = decision["summary"] or {}, decision["counts"], decision["arms"] or {}
    figures = _some({key: summary.get(key) for key in ("delta", "lo", "hi", "p_sign_flip", "mde80")})
    strata = {name: _some({"delta": row.get("delta")}) for name, row in (decision["strata"] or {}).items()}
    figures["strata"] = {name: row["delta"] for name, row in strata.items() if row}
    for arm, row in arms.items():
        picked = (
            "oracle_pass_rate",
            "inside_contract_rate",
            "assumption_per_kloc",
            "interface_drift_rate",
            "timeout_rate",
        )
        figures[arm] = _some({key: row.get(key) for key in picked})
    head = "withheld" if decision["decision"] == "withhold" else "published"
    return {
        "decision": decision["decision"],
        "reason": decision["reason"],
        "reasons": len(decision["reasons"]),
        "slice": decision["slice_id"][:16],
        "candidate": decision["candidate"]["name"],
        "counts": {
            key: counts[key] for key in ("planned", "scored", "excluded", "missing", "items_kept", "placebos_passed")
        },
        head: {key: value for key, value in figures.items() if value != {}},
    }
