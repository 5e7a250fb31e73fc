"""The figures of a benchmark's decision: summary, strata, arms, sensitivity, and the reasons that they give."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pandas as pd

from stages.contract.design import merged, summary_sizes
from stages.contract.digest import rational_text
from stages.gate.evidence import ARMS, FOLLOWING, PARTNER, Evidence
from stages.gate.metrics import arm_metrics, win_rate
from stages.gate.rule import Judged, items_of, judge, stratum_of
from stages.gate.views import kept_pairs, sensitivity
from stages.gate.wording import figures_of
from stages.stats import bootstrap_interval, design, exclusion_asymmetry, mde80_observed, sig6
from stages.stats.alpha import ASYMMETRY_LEVEL
from stages.stats.fmt import SMALLEST_P

PARTS = ("summary", "strata", "arms", "win_rate", "sensitivity", "asymmetry", "excluded_share")
"""What a study that is no benchmark has none of."""


def benchmark_figures(ev: Evidence, alpha: Fraction) -> tuple[dict[str, Any], dict[str, str], set[str]]:
    """(parts of the decision, reason id to its figures, kept items): rules 2 to 8 at the alpha that is spent."""
    kept = kept_pairs(ev.pairs)
    items = items_of(kept, math.ceil(ev.plan.trial_budget / 2))
    base = judge(items, ev.manifest, alpha)
    block, disagreements = sensitivity(ev.pairs, ev.plan, ev.manifest, alpha, base)
    excluded, weighed = _exclusions(ev)
    parts: dict[str, Any] = {
        "summary": _summary(ev, base, alpha),
        "strata": _strata(ev, items, alpha),
        "arms": arm_metrics(ev),
        "win_rate": win_rate(items),
        "sensitivity": block,
        **weighed,
    }
    details = {r: figures_of(r, ev.manifest.protocol, base, parts) for r in base.reasons | disagreements | excluded}
    return parts, details, set(items["item_id"])


def _exclusions(ev: Evidence) -> tuple[set[str], dict[str, Any]]:
    """Rule 8's own limits: the excluded share of admitted pairs, and whether exclusions lean on one arm."""
    admitted = {i.item_id for i in ev.plan.items if ev.admitted["items"][i.item_id]["admitted"]}
    pairs = ev.pairs[ev.pairs["item_id"].isin(admitted)]
    # A partner goes because of the other trial: either that one was excluded itself, or it is missing.
    ruled = {arm: pairs[f"{arm}_rule"].notna() & (pairs[f"{arm}_rule"] != PARTNER) for arm in ARMS}
    own = {arm: int((ruled[arm] & ~pairs[f"{arm}_rule"].isin(FOLLOWING)).sum()) for arm in ARMS}
    gone, limit = int((ruled["candidate"] | ruled["control"]).sum()), ev.manifest.protocol.max_excluded_share
    asymmetry = exclusion_asymmetry((own["candidate"], own["control"]), (len(pairs), len(pairs)))
    reasons = set()
    if asymmetry.p <= ASYMMETRY_LEVEL:
        reasons.add("exclusion_asymmetry")
    if len(pairs) and Fraction(gone, len(pairs)) > limit:
        reasons.add("too_many_exclusions")
    return reasons, {
        "asymmetry": {"p": sig6(asymmetry.p), "could_fire": asymmetry.could_fire, **own},
        "excluded_share": {"pairs": gone, "of": len(pairs), "limit": rational_text(limit)},
    }


def _real(value: Fraction | float | None) -> float | None:
    return None if value is None else sig6(value)


def _p(value: float) -> float:
    """Six digits, but none beyond 1e-12, where other machines compute others; 1e-12 stands for that or less."""
    return sig6(max(round(value, 12), SMALLEST_P))


def _summary(ev: Evidence, base: Judged, alpha: Fraction) -> dict[str, Any]:
    protocol, interval = ev.manifest.protocol, base.interval
    planned, least = ev.manifest.mde80, protocol.margin or protocol.min_detectable_effect
    df = mde = None
    if base.design is not None and interval is not None and interval.moments.variance and interval.moments.df:
        variance, df = interval.moments.variance, interval.moments.df
        units = sum(s.n for _, s in base.design.weighted)
        mde = mde80_observed(variance, df, units, ev.plan.trial_budget, alpha)
    return {
        "items": sum(base.items.values()),
        "delta": _real(base.delta),
        "lo": _real(interval.lo) if interval else None,
        "hi": _real(interval.hi) if interval else None,
        "interval_why": interval.why if interval else "a stratum of the summary has no item left",
        "alpha": sig6(protocol.alpha),
        "alpha_spent": sig6(alpha),
        "tail_level": _real(interval.tail_level) if interval else None,
        "p_sign_flip": _p(base.sign_flip.p) if base.sign_flip else None,
        "kind": interval.kind if interval else "none",
        "bracket_width": _real(interval.width) if interval else None,
        "df": _real(df),
        "mde80": mde,
        "mde80_planned": planned,
        "mde80_planned_exceeds_minimum": planned is None or planned > float(least),
        "delta_equal": _real(base.delta_equal),
        "delta_proportional": _real(base.delta_proportional),
    }


def _strata(ev: Evidence, items: pd.DataFrame, alpha: Fraction) -> dict[str, Any]:
    """Every original label beside the summary; below the floor it is a case series, without a rate."""
    protocol, manifest = ev.manifest.protocol, ev.manifest
    inside = summary_sizes(protocol, manifest.strata)
    result: dict[str, Any] = {}
    for label, planned in sorted(manifest.strata.items()):
        rows = items[items["stratum"] == label]
        into = merged(protocol, label)
        series = into not in inside or len(rows) < protocol.min_stratum_items
        won = win_rate(rows)
        won.pop("rate")
        entry: dict[str, Any] = {
            "items_planned": planned,
            "items": len(rows),
            **won,
            "delta": None,
            "lo": None,
            "hi": None,
            "case_series": series,
            "merged_into": into if into != label else None,
        }
        if series:
            picked = zip(rows["item_id"], rows["gains"].tolist(), rows["pairs"].tolist(), strict=True)
            entry["series"] = [{"item_id": i, "gains": g, "pairs": p} for i, g, p in picked]
        else:
            interval = bootstrap_interval(design([stratum_of(label, rows)]), alpha)
            entry |= {"delta": _real(interval.delta), "lo": _real(interval.lo), "hi": _real(interval.hi)}
            if interval.lo is None:
                entry["interval_why"] = interval.why
        result[label] = entry
    return result
