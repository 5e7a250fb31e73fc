"""`metrics.json`: what becomes columns of `dvc exp show`.

Figures of a withheld study stand under `withheld`, those of a published one under `published`, so that a sorted table
isn't a ranking of refused numbers. Lists and nulls are left out, since DVC drops them in silence.
"""

from __future__ import annotations

from typing import Any


def _some(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


FIGURES = ("delta", "lo", "hi", "p_sign_flip", "mde80")
COUNTS = ("planned", "scored", "excluded", "missing", "items_kept", "placebos_passed")
OF_ARMS = ("oracle_pass_rate", "inside_contract_rate", "assumption_per_kloc", "interface_drift_rate", "timeout_rate")
SENT = ("cost", "cost_per_trial")  # of arms with a provider


def flat_metrics(decision: dict[str, Any]) -> dict[str, Any]:
    """Nested objects of numbers, booleans and short strings. A study that is no benchmark has no figures."""
    made = {
        "decision": decision["decision"],
        "reason": decision["reason"],
        "reasons": len(decision["reasons"]),
        "slice": decision["slice_id"][:16],
        "candidate": decision["candidate"]["name"],
        "counts": {key: decision["counts"][key] for key in COUNTS},
    }
    if decision["summary"] is None:
        return made
    rates = {name: row["delta"] for name, row in decision["strata"].items() if row["delta"] is not None}
    figures = {
        **_some({key: decision["summary"][key] for key in FIGURES}),
        "strata": rates,
        **{
            arm: _some({**{key: row.get(key) for key in OF_ARMS}, **_sent(row)})
            for arm, row in decision["arms"].items()
        },
    }
    head = "withheld" if decision["decision"] == "withhold" else "published"
    return {**made, head: {key: value for key, value in figures.items() if value != {}}}


def _sent(arm: dict[str, Any]) -> dict[str, Any]:
    """What an arm's requests cost, and how many kinds of them said otherwise than it declares."""
    tokens = {f"tokens_{kind}": (arm["tokens"] or {}).get(kind) for kind in ("input", "output")}
    differs = {"sent_differs": len(arm["sent_differs"])} if "sent_differs" in arm else {}
    single = [arm.get("temperature_sent"), arm.get("model_sent")]
    named = zip(("temperature_sent", "model_sent"), single, strict=True)
    return {
        **tokens,
        **{key: arm.get(key) for key in SENT},
        **differs,
        **{key: value[0] if value and len(value) == 1 else None for key, value in named},
    }
