"""Secondary figures of each arm. None of them can crown; counts stand beside every rate."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd

from stages.contract.protocol import INSTRUMENT_RULES
from stages.gate.evidence import ARMS, Evidence
from stages.stats import sig6

_ENVELOPE_RULES = [rule for rule in INSTRUMENT_RULES if rule != "lost"]


def arm_metrics(ev: Evidence) -> dict[str, dict[str, Any]]:
    """Rates over the kept trials of real items, assumption counts over all scored ones, per arm."""
    kept = ev.pairs[ev.pairs["kept"]][["item_id", "repeat"]]
    real = ev.ledger[~ev.ledger["placebo"]]
    result = {}
    for arm in ARMS:
        rows = real[real["arm"] == arm]
        result[arm] = _arm(ev, arm, rows, rows.merge(kept, on=["item_id", "repeat"]))
    return result


def _share(part: int, whole: int) -> float | None:
    return sig6(Fraction(part, whole)) if whole else None


def _arm(ev: Evidence, arm: str, rows: pd.DataFrame, kept: pd.DataFrame) -> dict[str, Any]:
    runner = ev.plan.arms.candidate if arm == "candidate" else ev.plan.arms.control
    lines, inside = int(rows["generated_lines"].sum()), kept[kept["inside_contract"].notna()]
    violations, extended = int(rows["violations"].sum()), int(rows["extended"].sum())
    per_item = kept.groupby("item_id")["passed"].nunique()
    patches = kept.groupby("item_id")["patch_sha256"].agg(["nunique", "size"])
    outside = ev.pairs[f"{arm}_rule"].isin(_ENVELOPE_RULES)
    return {
        "name": runner.name,
        "trials": len(kept),
        "passes": int(kept["passed"].sum()),
        "oracle_pass_rate": _share(int(kept["passed"].sum()), len(kept)),
        "inside_contract_passes": int((inside["inside_contract"] == "pass").sum()),
        "inside_contract_rate": _share(int((inside["inside_contract"] == "pass").sum()), len(inside)),
        "timeouts": int((kept["status"] == "timeout").sum()),
        "timeout_rate": _share(int((kept["status"] == "timeout").sum()), len(kept)),
        "late_passes": int(kept["late_pass"].sum()),
        "aborts": int((kept["status"] == "aborted").sum()),
        "abort_rate": _share(int((kept["status"] == "aborted").sum()), len(kept)),
        "broken": int((kept["status"] == "broken").sum()),
        "tamper": int((kept["verdict"] == "tamper").sum()),
        "envelope_rate": _share(len(rows) - int(outside.sum()), len(rows)),
        "violations": violations,
        "invented_imports": int(rows["invented_imports"].sum()),
        "invented_env": int(rows["invented_env"].sum()),
        "unauthorised_files": int(rows["unauthorised_files"].sum()),
        "extended": extended,
        "generated_lines": lines,
        "assumption_per_kloc": _share(1000 * violations, lines),
        "extended_per_kloc": _share(1000 * extended, lines),
        "interface_drift": int((rows["interface_drift"] > 0).sum()),
        "interface_drift_rate": _share(
            int((rows["interface_drift"] > 0).sum()), int(rows["interface_drift"].notna().sum())
        ),
        "canary_hits": int(rows["canary_hits"].sum()),
        "flips": int((per_item > 1).sum()),
        "flip_rate": _share(int((per_item > 1).sum()), len(per_item)),
        "identical_patches": int(((patches["nunique"] == 1) & (patches["size"] > 1)).sum())
        if ev.plan.trial_budget > 1
        else None,
        "wall_s_median": sig6(float(kept["wall_s"].median())) if len(kept) else None,
        "temperature": sorted(set(rows["temperature"])),
        "temperature_sent": None,
        "temperature_sent_why": "a local program sends no request",
        "tokens": None,
        "tokens_why": "a local program has no provider",
        "cost": None,
        "cost_why": "a local program has no price",
    }


def win_rate(items: pd.DataFrame) -> dict[str, Any]:
    """Share of items where the candidate beats the control, ties shown; the same per repeat pair (the trial-budget
    article's `paired_delta`). `items` as `items_of` gives them."""
    wins, losses = int((items["gains"] > 0).sum()), int((items["gains"] < 0).sum())
    pairs, won, lost = (int(items[name].sum()) for name in ("pairs", "pair_wins", "pair_losses"))
    return {
        "wins": wins,
        "losses": losses,
        "ties": len(items) - wins - losses,
        "rate": _share(wins, len(items)),
        "pair_wins": {"wins": won, "losses": lost, "ties": pairs - won - lost},
    }


def exclusion_counts(ev: Evidence) -> dict[str, dict[str, int]]:
    """Per rule: excluded trials of each arm, and items touched."""
    found: dict[str, dict[str, int]] = {}
    for arm in ARMS:
        rows = ev.pairs[ev.pairs[f"{arm}_rule"].notna()]
        for rule, some in rows.groupby(f"{arm}_rule"):
            entry = found.setdefault(str(rule), {"candidate": 0, "control": 0, "items": 0})
            entry[arm] = len(some)
    for rule, entry in found.items():
        either = (ev.pairs["candidate_rule"] == rule) | (ev.pairs["control_rule"] == rule)
        entry["items"] = int(ev.pairs[either]["item_id"].nunique())
    return dict(sorted(found.items()))
