"""The decision as one JSON object, from tables alone: no clock, no git, no network, no randomness."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pandas as pd

from stages.contract.design import merged, summary_sizes
from stages.contract.digest import rational_text, short
from stages.contract.protocol import Protocol
from stages.contract.types import plain
from stages.gate.batch import Evidence, batch_reasons, counts
from stages.gate.metrics import arm_metrics, exclusion_counts, win_rate
from stages.gate.reasons import PUBLISHED, REASONS, ordered
from stages.gate.rule import Judged, build_design, items_of, judge
from stages.gate.views import kept_pairs, sensitivity
from stages.stats import (
    alpha_spent,
    bootstrap_interval,
    exclusion_asymmetry,
    mde80_observed,
    placebo_bound,
    sig6,
)

SCHEMA = "weighbridge.decision/1"


def decide(ev: Evidence) -> dict[str, Any]:
    """The decision. Every failing rule is in `reasons`, in the registry's order; the first is `reason`."""
    manifest, plan, campaign = ev.manifest, ev.plan, ev.campaign
    protocol = manifest.protocol
    look = int(campaign["look"])
    alpha = alpha_spent(protocol.alpha, look, protocol.family)
    counted = counts(ev)
    details = batch_reasons(ev, counted)
    kept = kept_pairs(ev.pairs)
    items = items_of(kept, math.ceil(plan.trial_budget / 2))
    base = judge(items, manifest, alpha)
    block, disagreements = sensitivity(ev.pairs, plan, manifest, alpha, base)
    excluded, weigh = _exclusions(ev, protocol)
    numbers = base.reasons | disagreements | excluded
    would = counted["missing"] == 0 and not numbers
    found = ordered(numbers | set(details))
    rates = win_rate(items)
    summary = _summary(ev, base, alpha, len(items))
    strata = _strata(ev, items, alpha)
    arms = arm_metrics(ev)
    details.update({r: _figures(r, ev, base, summary, weigh, block) for r in found if r not in details})
    decision: dict[str, Any] = {
        "schema": SCHEMA,
        "decision": "withhold" if found else "publish",
        "reason": found[0] if found else PUBLISHED,
        "reasons": found,
        "reason_details": {r: details[r] for r in found},
        "would_publish": would,
        "pack_id": manifest.pack_id,
        "pack_revision": manifest.pack_revision,
        "slice_id": manifest.slice_id,
        "study_id": manifest.study_id,
        "manifest_sha256": manifest.sha256(),
        "registration": campaign["registration"],
        "isolation": _isolation(ev),
        "looks": {
            "look": look,
            "earlier": campaign["earlier_looks"],
            "candidates": campaign["candidates"],
            "family": protocol.family,
        },
        "mode": manifest.study.mode,
        "disclosure": plain(manifest.study.disclosure),
        "departures": departures(protocol),
        "candidate": {"name": plan.arms.candidate.name, "version": plan.arms.candidate.version},
        "control": {"name": plan.arms.control.name, "version": plan.arms.control.version},
        "counts": counted,
        "placebo_bound": sig6(
            placebo_bound(counted["placebos_run"], min(counted["placebos_passed"], counted["placebos_run"]))
        ),
        "dropped": sorted(set(ev.pairs["item_id"]) - set(items["item_id"])),
        "summary": summary,
        "strata": strata,
        "arms": arms,
        "win_rate": rates,
        "sensitivity": block,
        "exclusions": exclusion_counts(ev),
        "asymmetry": weigh["asymmetry"],
        "excluded_share": weigh["share"],
        "started_at": campaign["started_at"],
        "protocol": plain(protocol),
        "findings_of_read": [],
        "legacy": {},
    }
    decision["headline"] = None if found else headline(decision)
    if found:
        decision["headline_why"] = "withheld"
    return decision


def departures(protocol: Protocol) -> list[str]:
    """What the protocol sets otherwise than the default, as `key value`."""
    default, own = plain(Protocol()), plain(protocol)
    found = [
        f"{key} {own[key]}" for key in sorted(own) if own[key] != default[key] and key not in ("campaign", "envelope")
    ]
    envelope = {k: v for k, v in own["envelope"].items() if v != default["envelope"][k]}
    return found + [f"envelope.{key} {value}" for key, value in sorted(envelope.items())]


def headline(decision: dict[str, Any]) -> str:
    """One string, never a bare number: slice, difference with interval, signs of strata, what was left out."""
    s, c, arms = decision["summary"], decision["counts"], decision["arms"]
    signs = ", ".join(
        f"{name} {'case series' if row['delta'] is None else format(row['delta'], '+.3f')}"
        for name, row in decision["strata"].items()
    )
    text = (
        f"slice {short(decision['slice_id'])} of {decision['pack_id']} {decision['pack_revision']}: "
        f"{decision['candidate']['name']} {decision['candidate']['version']} against "
        f"{decision['control']['name']} {decision['control']['version']}, "
        f"Δ {s['delta']:+.3f} [{s['lo']:+.3f}, {s['hi']:+.3f}] ({signs}); "
        f"timeouts {arms['candidate']['timeouts']} against {arms['control']['timeouts']}; "
        f"{c['excluded']} of {c['planned']} trials excluded; "
        f"placebos failed {c['placebos_run'] - c['placebos_passed']}/{c['placebos_run']}; "
        f"registration {decision['registration']}"
    )
    if s["mde80_planned_exceeds_minimum"]:
        text += "; could not reliably detect its own minimum"
    if decision["departures"]:
        text += f"; departs from the default protocol in {', '.join(decision['departures'])}"
    return text


def _isolation(ev: Evidence) -> dict[str, Any]:
    return {
        "requested": ev.plan.isolation,
        "tiers": sorted(set(ev.ledger["isolation"])),
        "why": ev.campaign["isolation"]["why"],
    }


def _exclusions(ev: Evidence, protocol: Protocol) -> tuple[set[str], dict[str, Any]]:
    """Rule 8's own limits: the excluded share of admitted pairs, and whether exclusions lean on one arm."""
    admitted = {i.item_id for i in ev.plan.items if ev.admitted["items"][i.item_id]["admitted"]}
    pairs = ev.pairs[ev.pairs["item_id"].isin(admitted)]
    ruled = pairs["candidate_rule"].notna() | pairs["control_rule"].notna()
    gone = int(ruled.sum())
    own = {
        arm: int((pairs[f"{arm}_rule"].notna() & ~pairs[f"{arm}_rule"].isin(("pair_partner", "too_few_pairs"))).sum())
        for arm in ("candidate", "control")
    }
    asymmetry = exclusion_asymmetry((own["candidate"], own["control"]), (len(pairs), len(pairs)))
    reasons = set()
    if asymmetry.p <= 0.01:
        reasons.add("exclusion_asymmetry")
    if len(pairs) and Fraction(gone, len(pairs)) > protocol.max_excluded_share:
        reasons.add("too_many_exclusions")
    share = {"pairs": gone, "of": len(pairs), "limit": rational_text(protocol.max_excluded_share)}
    return reasons, {
        "asymmetry": {"p": sig6(asymmetry.p), "could_fire": asymmetry.could_fire, **own},
        "share": share,
    }


def _summary(ev: Evidence, base: Judged, alpha: Fraction, items: int) -> dict[str, Any]:
    protocol = ev.manifest.protocol
    planned = ev.manifest.mde80
    interval = base.interval
    moments = interval.moments if interval else None
    known = moments is not None and bool(moments.variance) and moments.df is not None
    mde = None
    if known:
        assert moments is not None
        assert moments.variance is not None
        assert moments.df is not None
        mde = mde80_observed(moments.variance, moments.df, max(items, 1), ev.plan.trial_budget, alpha)
    return {
        "delta": None if base.delta is None else sig6(base.delta),
        "lo": None if interval is None or interval.lo is None else sig6(interval.lo),
        "hi": None if interval is None or interval.hi is None else sig6(interval.hi),
        "interval_why": None if interval is None else interval.why,
        "alpha": sig6(protocol.alpha),
        "alpha_spent": sig6(alpha),
        "tail_level": None if interval is None or interval.tail_level is None else sig6(interval.tail_level),
        "p_sign_flip": None if base.sign_flip is None else sig6(base.sign_flip.p),
        "kind": "none" if interval is None else interval.kind,
        "bracket_width": None if interval is None else sig6(interval.width),
        "df": sig6(moments.df) if known and moments and moments.df else None,
        "mde80": mde,
        "mde80_planned": planned,
        "mde80_planned_exceeds_minimum": planned is None or planned > float(protocol.min_detectable_effect),
        "delta_equal": None if base.delta_equal is None else sig6(base.delta_equal),
        "delta_proportional": None if base.delta_proportional is None else sig6(base.delta_proportional),
    }


def _strata(ev: Evidence, items: pd.DataFrame, alpha: Fraction) -> dict[str, Any]:
    """Every original label beside the summary; below the floor it is a case series, without a rate."""
    protocol, manifest = ev.manifest.protocol, ev.manifest
    result: dict[str, Any] = {}
    for label, planned in sorted(manifest.strata.items()):
        rows = items[items["stratum"] == label]
        into = merged(protocol, label)
        series = into not in summary_sizes(protocol, manifest.strata) or len(rows) < protocol.min_stratum_items
        entry: dict[str, Any] = {
            "items_planned": planned,
            "items": len(rows),
            **{k: v for k, v in win_rate(rows).items() if k != "rate"},
            "delta": None,
            "lo": None,
            "hi": None,
            "case_series": bool(series),
            "merged_into": into if into != label else None,
        }
        if not series:
            alone = build_design(
                rows.assign(stratum=label),
                manifest.model_copy(update={"protocol": protocol.model_copy(update={"merges": {}})}),
                label,
            )
            assert alone is not None
            interval = bootstrap_interval(alone, alpha)
            entry["delta"] = sig6(interval.delta)
            entry["lo"] = None if interval.lo is None else sig6(interval.lo)
            entry["hi"] = None if interval.hi is None else sig6(interval.hi)
            if interval.lo is None:
                entry["interval_why"] = interval.why
        else:
            picked = zip(rows["item_id"], rows["gains"].tolist(), rows["pairs"].tolist(), strict=True)
            entry["series"] = [{"item_id": i, "gains": g, "pairs": p} for i, g, p in picked]
        result[label] = entry
    return result


def _figures(
    reason: str,
    ev: Evidence,
    base: Judged,
    summary: dict[str, Any],
    weigh: dict[str, Any],
    block: dict[str, Any],
) -> str:
    """The figures behind a reason that comes from numbers."""
    protocol = ev.manifest.protocol
    s = summary
    interval = (
        f"Δ {s['delta']:+.4f}" + (f" [{s['lo']:+.4f}, {s['hi']:+.4f}]" if s["lo"] is not None else "")
        if s["delta"] is not None
        else "no Δ"
    )
    share = weigh["share"]
    texts = {
        "too_few_clean_tasks": f"{sum(base.items.values())} items kept in the summary, at least {protocol.min_kept_items}",
        "stratum_too_small": f"{', '.join(f'{k} {v}' for k, v in sorted(base.items.items()))}; at least {protocol.min_stratum_items} each",
        "no_variance": str(s["interval_why"]),
        "below_minimum_detectable_effect": f"{interval}, registered minimum {rational_text(protocol.min_detectable_effect)}",
        "interval_crosses_zero": interval + (f", margin {rational_text(protocol.margin)}" if protocol.margin else ""),
        "bracket_undecided": f"{interval}, bracket {s['bracket_width']}",
        "sign_flip_not_significant": f"p {s['p_sign_flip']}, alpha spent {s['alpha_spent']}",
        "strata_disagree": f"{interval}, strata "
        + ", ".join(f"{k} {float(v):+.4f}" for k, v in sorted(base.labels.items())),
        "weights_decide": f"equal {s['delta_equal']}, proportional {s['delta_proportional']}",
        "observed_disagrees": f"as observed: {block['as_observed']['reason']}, Δ {block['as_observed']['delta']}",
        "excluded_as_fail_disagrees": f"excluded as fail: {block['excluded_fail']['reason']}, Δ {block['excluded_fail']['delta']}",
        "exclusion_asymmetry": f"p {weigh['asymmetry']['p']}, candidate {weigh['asymmetry']['candidate']}, control {weigh['asymmetry']['control']}",
        "too_many_exclusions": f"{share['pairs']} of {share['of']} pairs, at most {share['limit']}",
    }
    return texts.get(reason, REASONS[reason].says)
