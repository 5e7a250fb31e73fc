"""The decision as one JSON object, from tables alone: no clock, no git, no network, no randomness."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from stages.contract.arm import Arm
from stages.contract.types import plain
from stages.gate.batch import batch_reasons
from stages.gate.drift import session_drift
from stages.gate.evidence import Evidence, counts, tidy
from stages.gate.figures import PARTS, benchmark_figures
from stages.gate.inputs import check_inputs
from stages.gate.metrics import excluded_counts
from stages.gate.reasons import PUBLISHED, ordered
from stages.gate.rehearsed import rehearsed
from stages.gate.wording import departures, headline
from stages.stats import alpha_spent, placebo_bound, sig6

SCHEMA = "weighbridge.decision/1"


def decide_study(evidence: Evidence, alpha: Fraction | None = None) -> dict[str, Any]:
    """The decision. Every failing rule is in `reasons`, in the registry's order; the first is `reason`.

    A study that is no benchmark gets no figure that could be read as a rate: its outcomes are a dated transcript.
    `alpha` replaces what the look and the family may spend, as a step of Holm's procedure does.
    Raises InputError where the files don't belong together.
    """
    ev = tidy(evidence)
    check_inputs(ev.plan, ev.manifest, ev.campaign)
    manifest, plan, campaign = ev.manifest, ev.plan, ev.campaign
    protocol, look = manifest.protocol, int(campaign["look"])
    counted = counts(ev)
    details = batch_reasons(ev, counted)
    benchmark = manifest.study.mode == "benchmark"
    parts: dict[str, Any] = dict.fromkeys(PARTS)
    numbers: dict[str, str] = {}
    kept = set(ev.pairs[ev.pairs["kept"]]["item_id"])
    if benchmark:
        parts, numbers, kept = benchmark_figures(ev, alpha or alpha_spent(protocol.alpha, look, protocol.family))
    details |= numbers
    found = ordered(set(details))
    decision: dict[str, Any] = {
        "schema": SCHEMA,
        "decision": "withhold" if found else "publish",
        "reason": found[0] if found else PUBLISHED,
        "reasons": found,
        "reason_details": {r: details[r] for r in found},
        "would_publish": benchmark and counted["missing"] == 0 and not numbers,
        "pack_id": manifest.pack_id,
        "pack_revision": manifest.pack_revision,
        "slice_id": manifest.slice_id,
        "study_id": manifest.study_id,
        "manifest_sha256": manifest.sha256(),
        "registration": campaign["registration"],
        "isolation": {
            "requested": plan.isolation,
            "tiers": sorted(set(ev.ledger["isolation"])),
            "why": campaign["isolation"]["why"],
        },
        "ran_at": {"git": campaign.get("git"), "harness": campaign.get("harness")},
        "looks": {
            "look": look,
            "earlier": campaign["earlier_looks"],
            "candidates": campaign["candidates"],
            "family": protocol.family,
        },
        **_lineage(campaign),
        "mode": manifest.study.mode,
        "disclosure": plain(manifest.study.disclosure),
        "departures": departures(
            protocol, local=all(arm.session is None for arm in (plan.arms.candidate, plan.arms.control))
        ),
        "candidate": _runner(plan.arms.candidate),
        "control": _runner(plan.arms.control),
        "counts": counted,
        "placebo_bound": sig6(placebo_bound(counted["placebos_run"], counted["placebos_passed"]))
        if benchmark
        else None,
        "dropped": sorted(set(ev.pairs["item_id"]) - kept),
        **parts,
        "exclusions": excluded_counts(ev.pairs),
        "rehearsals": rehearsed(ev, benchmark),
        **session_drift(ev, benchmark),
        "started_at": campaign["started_at"],
        "protocol": plain(protocol),
        "findings_of_read": [],
        "legacy": {},
        "headline": None,
    }
    if found:
        return {**decision, "headline_why": "withheld"}
    return {**decision, "headline": headline(decision)}


def _lineage(campaign: Mapping[str, Any]) -> dict[str, Any]:
    """Where the campaign stood among others, as it was put on record before its first trial."""
    if campaign.get("lineage") is None:
        return {"lineage": None, "lineage_why": "the campaign's record doesn't say"}
    return {"lineage": {"registry": campaign.get("registry"), **campaign["lineage"]}}


def _runner(arm: Arm) -> dict[str, Any]:
    """Name and version; of a replayed arm also the file that it is."""
    replayed = {"replayed": {"patches": arm.patches, "sha256": arm.patches_sha256}} if arm.replayed else {}
    return {"name": arm.name, "version": arm.version, **replayed}
