"""Secondary figures of each arm. None of them can crown; counts stand beside every rate."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pandas as pd

from stages.contract.protocol import INSTRUMENT_RULES
from stages.gate.evidence import ARMS, Evidence
from stages.gate.sent import sent_metrics
from stages.stats import sig6

ENVELOPE_RULES = [rule for rule in INSTRUMENT_RULES if rule != "lost"]
MEASURED = ("wall_s", "budget_share", "cpu_s", "max_rss_kb", "load_1m")
"""What may have limited a verdict, of the trial: observational, as another machine measures something else."""
FEW_ITEMS = 36
"""Below these many items a density or a drift rate wobbles with a single finding: a case series, counts only."""


def arm_metrics(ev: Evidence) -> dict[str, dict[str, Any]]:
    """Rates over the kept trials of real items, assumption counts over all scored ones, per arm."""
    kept = ev.pairs[ev.pairs["kept"]][["item_id", "repeat"]]
    real = ev.ledger[~ev.ledger["placebo"]]
    result = {}
    for arm in ARMS:
        rows = real[real["arm"] == arm]
        result[arm] = _arm(ev, arm, rows, rows.merge(kept, on=["item_id", "repeat"]))
    return result


def share(part: int, whole: int) -> float | None:
    """A rate, or None of nothing."""
    return sig6(Fraction(part, whole)) if whole else None


def _arm(ev: Evidence, arm: str, rows: pd.DataFrame, kept: pd.DataFrame) -> dict[str, Any]:
    runner = ev.plan.arms.candidate if arm == "candidate" else ev.plan.arms.control
    lines, inside = int(rows["generated_lines"].sum()), kept[kept["inside_contract"].notna()]
    violations, extended = int(rows["violations"].sum()), int(rows["extended"].sum())
    per_item = kept.groupby("item_id")["passed"].nunique()
    patches = kept.groupby("item_id")["patch_sha256"].agg(["nunique", "size"])
    outside = ev.pairs[f"{arm}_rule"].isin(ENVELOPE_RULES)
    few = len(per_item) < FEW_ITEMS
    drifted, pinned = int((rows["interface_drift"] > 0).sum()), int(rows["interface_drift"].notna().sum())
    return {
        "name": runner.name,
        "trials": len(kept),
        "passes": int(kept["passed"].sum()),
        "oracle_pass_rate": share(int(kept["passed"].sum()), len(kept)),
        "inside_contract_passes": int((inside["inside_contract"] == "pass").sum()),
        "inside_contract_rate": share(int((inside["inside_contract"] == "pass").sum()), len(inside)),
        "timeouts": int((kept["status"] == "timeout").sum()),
        "timeout_rate": share(int((kept["status"] == "timeout").sum()), len(kept)),
        "late_passes": int(kept["late_pass"].sum()),
        "aborts": int((kept["status"] == "aborted").sum()),
        "abort_rate": share(int((kept["status"] == "aborted").sum()), len(kept)),
        "broken": int((kept["status"] == "broken").sum()),
        "tamper": int((kept["verdict"] == "tamper").sum()),
        "envelope_rate": None if runner.replayed else share(len(rows) - int(outside.sum()), len(rows)),
        "violations": violations,
        "invented_imports": int(rows["invented_imports"].sum()),
        "invented_env": int(rows["invented_env"].sum()),
        "unauthorised_files": int(rows["unauthorised_files"].sum()),
        "extended": extended,
        "generated_lines": lines,
        "assumption_per_kloc": None if few else share(1000 * violations, lines),
        "extended_per_kloc": None if few else share(1000 * extended, lines),
        "interface_drift": drifted,
        "interface_drift_rate": None if few else share(drifted, pinned),
        **({"densities_why": f"fewer than {FEW_ITEMS} items: a case series, counts only"} if few else {}),
        "canary_hits": int(rows["canary_hits"].sum()),
        **_pass_at_k(ev, kept),
        "flips": int((per_item > 1).sum()),
        "flip_rate": share(int((per_item > 1).sum()), len(per_item)),
        "identical_patches": int(((patches["nunique"] == 1) & (patches["size"] > 1)).sum())
        if ev.plan.trial_budget > 1
        else None,
        **{f"{name}_median": None if runner.replayed else _median(kept[name]) for name in MEASURED},
        "temperature": sorted(set(rows["temperature"])),
        **sent_metrics(ev, arm, runner),
    }


def _median(values: pd.Series) -> float | None:
    known = values.dropna()
    return sig6(float(known.median())) if len(known) else None


def _pass_at_k(ev: Evidence, kept: pd.DataFrame) -> dict[str, Any]:
    """The chance that one of k trials passes, mean over items, where the protocol declares k and which trials count.

    `all`: over every choice of k of an item's n kept trials, c of them passed: 1 - C(n - c, k) / C(n, k) (Chen et al.
    2021). `first`: the first k repeats. None where an item has fewer than k.
    """
    declared = ev.manifest.protocol.pass_at_k
    if declared is None:
        return {"pass_at_k": None, "pass_at_k_why": "the protocol declares no k and no sample rule"}
    k, total = declared.k, Fraction(0)
    counted = kept[kept["repeat"] < k] if declared.sample == "first" else kept
    items = [rows["passed"].tolist() for _, rows in counted.groupby("item_id", sort=True)]
    if not items or min(map(len, items)) < k or len(items) < kept["item_id"].nunique():
        which = "not all of its first" if declared.sample == "first" else "fewer than"
        return {"pass_at_k": None, "pass_at_k_why": f"an item has {which} {k} kept trials"}
    for passed in items:
        n, c = len(passed), sum(passed)
        total += any(passed) if declared.sample == "first" else 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
    return {"pass_at_k": {"k": k, "sample": declared.sample, "items": len(items), "rate": sig6(total / len(items))}}


def densities(ev: Evidence) -> dict[str, Any]:
    """Stratum to each arm's raw counts over scored trials, and violations per 1,000 lines as sum over sum."""
    real = ev.ledger[~ev.ledger["placebo"]]
    found: dict[str, Any] = {}
    for label in sorted(ev.manifest.strata):
        found[label] = {"items": int(real[real["stratum"] == label]["item_id"].nunique())}
        for arm in ARMS:
            rows = real[(real["stratum"] == label) & (real["arm"] == arm)]
            names = (
                "invented_imports",
                "invented_env",
                "unauthorised_files",
                "violations",
                "extended",
                "generated_lines",
            )
            counts = {name: int(rows[name].sum()) for name in names}
            few = found[label]["items"] < FEW_ITEMS
            rate = None if few else share(1000 * counts["violations"], counts["generated_lines"])
            found[label][arm] = {**counts, "assumption_per_kloc": rate}
    return found


def win_rate(items: pd.DataFrame) -> dict[str, Any]:
    """Share of items where the candidate beats the control, ties shown; the same per repeat pair (the trial-budget
    article's `paired_delta`). `items` as `items_of` gives them."""
    wins, losses = int((items["gains"] > 0).sum()), int((items["gains"] < 0).sum())
    pairs, won, lost = (int(items[name].sum()) for name in ("pairs", "pair_wins", "pair_losses"))
    return {
        "wins": wins,
        "losses": losses,
        "ties": len(items) - wins - losses,
        "rate": share(wins, len(items)),
        "pair_wins": {"wins": won, "losses": lost, "ties": pairs - won - lost},
    }


def excluded_counts(pairs: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Per rule: excluded trials of each arm, and items touched."""
    found: dict[str, dict[str, int]] = {}
    for arm in ARMS:
        rows = pairs[pairs[f"{arm}_rule"].notna()]
        for rule, some in rows.groupby(f"{arm}_rule"):
            entry = found.setdefault(str(rule), {"candidate": 0, "control": 0, "items": 0})
            entry[arm] = len(some)
    for rule, entry in found.items():
        either = (pairs["candidate_rule"] == rule) | (pairs["control_rule"] == rule)
        entry["items"] = int(pairs[either]["item_id"].nunique())
    return dict(sorted(found.items()))
