"""One row of the ledger: a trial's outcome with the assumptions that its patch made. The two never travel apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stages.contract.digest import canonical_texts
from stages.contract.plan import PlanItem


def status_of(ended: str, verdict: str | None) -> str:
    """passed, failed, broken, timeout, aborted or lost. Only `passed` counts 1; a pass after the limit is a timeout."""
    if ended != "completed":
        return ended
    return {"pass": "passed", "fail": "failed"}.get(verdict or "", "broken")


def runner_changes(trials: list[dict[str, Any]]) -> dict[tuple[str, str, int], str]:
    """Trials whose runner wasn't the one that the arm's first trial ran with, and what differs."""
    found: dict[tuple[str, str, int], str] = {}
    for arm in ("candidate", "control"):
        mine = sorted(
            (t for t in trials if t["arm"] == arm), key=lambda t: (t["started_at"], t["item_id"], t["repeat"])
        )
        for trial in mine:
            key = (trial["item_id"], arm, trial["repeat"])
            if trial["install_before"] != trial["install_after"]:
                found[key] = "installed files changed during the trial"
            elif trial["install_before"] != mine[0]["install_before"]:
                found[key] = "other installed files than in the arm's first trial"
            elif trial["version_said"] != mine[0]["version_said"]:
                found[key] = f"says {trial['version_said']}, in the arm's first trial {mine[0]['version_said']}"
    return found


def ledger_row(
    trial: dict[str, Any],
    item: PlanItem,
    verdicts: dict[str, dict[str, Any]],
    assumptions: dict[str, int | None],
    stamps: Iterable[str],
    canary_hits: int,
    runner_changed: str | None,
) -> dict[str, Any]:
    """The ledger's row of a trial.

    `verdicts` are those of the trial by kind (`first`, `recheck`, `inside`), each with the tier that its oracle ran in:
    if one ran without isolation, that is the row's. Two verdicts on one patch are a fail; of a placebo, whose oracle
    must never pass, a single pass is one. `budget_share` is what was used of the time budget.
    """
    first, again, inside = (verdicts.get(kind) for kind in ("first", "recheck", "inside"))
    verdict = first["verdict"] if first else None
    reason = first["reason"] if first else None
    if first and again and again["verdict"] != first["verdict"]:
        verdict, reason = "fail", f"two verdicts on one patch: {first['verdict']}, then {again['verdict']}"
    passes = sorted(kind for kind, one in verdicts.items() if one["verdict"] == "pass")
    if item.placebo and passes and verdict != "pass":
        verdict, reason = "pass", f"a placebo's oracle passed ({', '.join(passes)})"
    status = status_of(trial["ended"], verdict)
    return {
        **{name: trial[name] for name in ("item_id", "arm", "repeat")},
        "rev": item.rev,
        "stratum": item.stratum,
        "cluster": item.cluster,
        "placebo": item.placebo,
        "status": status,
        "passed": int(status == "passed"),
        "ended": trial["ended"],
        "ended_reason": trial["reason"],
        "verdict": verdict,
        "verdict_reason": reason,
        "late_pass": status == "timeout" and verdict == "pass",
        "recheck": again["verdict"] if again else None,
        "inside_contract": inside["verdict"] if inside else None,
        "verdict_isolation": _tier(one["isolation"] for one in verdicts.values()),
        "budget_share": trial["wall_s"] / trial["time_budget_s"],
        **{name: trial[name] for name in ("wall_s", "cpu_s", "max_rss_kb", "load_1m")},
        **{name: trial[name] for name in ("started_at", "position", "attempts", "patch_sha256")},
        "prompt_sha256": item.prompt_sha256,
        "oracle_sha256": item.oracle_sha256,
        **assumptions,
        "canary_hits": canary_hits,
        "stamps": canonical_texts(list(stamps)).decode(),
        "runner_changed": runner_changed,
        **{
            name: trial[name]
            for name in (
                "temperature",
                "isolation",
                "limits",
                "plan_sha256",
                "pack_sha256",
                "slice_id",
                "study_id",
            )
        },
    }


def _tier(tiers: Iterable[str]) -> str | None:
    found = set(tiers)
    return None if not found else "none" if "none" in found else min(found)
