"""Rule 1: may this batch be trusted at all? Each reason with the figures that give it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd

from stages.contract import limits
from stages.contract.digest import rational_text, short
from stages.contract.plan import Manifest, Plan

ARMS = ("candidate", "control")


@dataclass(frozen=True)
class Evidence:
    """All that a decision is derived from, as the stages before it wrote it."""

    plan: Plan
    manifest: Manifest
    ledger: pd.DataFrame
    pairs: pd.DataFrame
    exclusions: pd.DataFrame
    admitted: dict[str, Any]
    campaign: dict[str, Any]


def counts(ev: Evidence) -> dict[str, int]:
    """Trials of real items: planned = scored + excluded + missing. Placebos are counted apart."""
    planned = excluded = missing = 0
    for arm in ARMS:
        ruled = ev.pairs[f"{arm}_rule"].notna()
        planned += len(ev.pairs)
        excluded += int(ruled.sum())
        missing += int((~ruled & (ev.pairs[f"{arm}_status"] == "missing")).sum())
    placebos = ev.ledger[ev.ledger["placebo"]]
    kept = ev.pairs[ev.pairs["kept"]]
    return {
        "planned": planned,
        "scored": planned - excluded - missing,
        "excluded": excluded,
        "missing": missing,
        "pairs_kept": len(kept),
        "items_seen": int(ev.pairs["item_id"].nunique()),
        "items_kept": int(kept["item_id"].nunique()),
        "placebos_run": len(placebos),
        "placebos_passed": int(placebos["passed"].sum()) + len(_passed_early(ev)),
    }


def _passed_early(ev: Evidence) -> list[str]:
    """Placebos that preflight saw pass on the untouched workspace: no arm was started."""
    items = ev.admitted["items"]
    return sorted(i.item_id for i in ev.plan.items if i.placebo and items[i.item_id].get("placebo_passed"))


def batch_reasons(ev: Evidence, counted: dict[str, int]) -> dict[str, str]:
    """Reason id to the figures behind it."""
    found: dict[str, str] = {}
    protocol, ledger, campaign = ev.manifest.protocol, ev.ledger, ev.campaign
    if ev.manifest.study.mode != "benchmark":
        found["not_a_benchmark"] = f"study.mode is {ev.manifest.study.mode}"
    if counted["placebos_passed"]:
        rows = ledger[ledger["placebo"] & (ledger["passed"] == 1)]
        which = [f"{r.item_id} ({r.arm}, repeat {r.repeat})" for r in rows.itertuples()]
        which += [f"{item} (untouched workspace)" for item in _passed_early(ev)]
        found["placebo_passed"] = (
            f"{counted['placebos_passed']} of {counted['placebos_run']} placebo trials: {_some(which)}"
        )
    scored_arms = set(ledger[ledger["placebo"]]["arm"])
    if scored_arms != set(ARMS):
        found["no_negative_control"] = f"placebo trials scored in {len(scored_arms)} of 2 arms"
    changed = campaign.get("pack_changed")
    foreign = ledger[ledger["plan_sha256"] != ev.manifest.plan_sha256]
    if changed:
        differs = [f"{d['item_id']} {d['what']}" for d in changed["differs"]] or ["pack.yaml"]
        found["pack_changed_after_run"] = (
            f"pack {short(changed['old'])} ran, pack {short(changed['new'])} is frozen: {_some(differs)}"
        )
    elif len(foreign):
        plans = sorted({short(p) for p in foreign["plan_sha256"]})
        found["outcomes_not_of_manifest"] = (
            f"{len(foreign)} trials of plan {', '.join(plans)}, frozen is {short(ev.manifest.plan_sha256)}"
        )
    slices = sorted(set(ledger["slice_id"]) - {ev.manifest.slice_id})
    if slices and not changed and not len(foreign):
        found["protocol_changed_after_run"] = (
            f"trials ran under slice {', '.join(map(short, slices))}, the manifest says {short(ev.manifest.slice_id)}"
            + _protocol_diff(ev)
        )
    floors = _floors(ev)
    if floors:
        found["protocol_below_floor"] = "; ".join(floors)
    refused = ev.exclusions[~ev.exclusions["accepted"].astype(bool)]
    if len(refused):
        found["posthoc_exclusion"] = _some([f"{r.rule} for {r.item_id}: {r.refused_why}" for r in refused.itertuples()])
    lacking = _missing_placebos(ev)
    if counted["missing"] or lacking:
        found["trials_missing"] = (
            f"{counted['missing']} of {counted['planned']} trials and {lacking} placebo trials have no outcome"
        )
    found.update(_conduct(ev))
    tried = campaign["candidates"]
    if len(tried) > protocol.family:
        found["family_exceeded"] = f"{len(tried)} candidates tried ({', '.join(tried)}), family is {protocol.family}"
    order = ("none", "self_dated", "witnessed")
    if order.index(campaign["registration"]) < order.index(protocol.require_registration):
        found["registration_missing"] = (
            f"{campaign['registration']}, the protocol demands {protocol.require_registration}"
        )
    return found


def _missing_placebos(ev: Evidence) -> int:
    run = set(zip(ev.ledger["item_id"], ev.ledger["arm"], ev.ledger["repeat"], strict=True))
    placebos = [i.item_id for i in ev.plan.items if i.placebo and ev.admitted["items"][i.item_id]["admitted"]]
    return sum((i, arm, r) not in run for i in placebos for arm in ARMS for r in range(ev.plan.trial_budget))


def _conduct(ev: Evidence) -> dict[str, str]:
    """How the trials were run: isolation, equality of the arms, order, runners, stamps."""
    found: dict[str, str] = {}
    ledger = ev.ledger
    bare = ledger[ledger["isolation"] == "none"]
    if len(bare):
        found["not_isolated"] = f"{len(bare)} of {len(ledger)} trials ran without isolation"
    kinds = {
        arm: sorted(set(zip(rows["isolation"], rows["limits"], strict=True))) for arm, rows in ledger.groupby("arm")
    }
    if len(kinds) == 2 and kinds["candidate"] != kinds["control"]:
        found["arms_unequal"] = f"candidate {_kinds(kinds['candidate'])}, control {_kinds(kinds['control'])}"
    if ev.plan.arms.order != "interleaved":
        found["not_interleaved"] = f"arms.order is {ev.plan.arms.order}"
    changed = ledger[ledger["runner_changed"].notna()]
    if len(changed):
        found["runner_changed"] = (
            f"{len(changed)} trials, first {changed.iloc[0]['item_id']}: {changed.iloc[0]['runner_changed']}"
        )
    recorded = sum(_recorded(text) for text in ledger["stamps"])
    if not recorded:
        found["no_session_evidence"] = f"0 of {len(ledger)} trials have a stamp that a recorder or harness wrote"
    if not len(ledger):
        found["no_assumption_ledger"] = "the ledger is empty"
    return found


def _recorded(text: str) -> bool:
    stamps = [json.loads(one) for one in json.loads(text)]
    return bool(stamps) and all(isinstance(s, dict) and s.get("evidence") in ("recorded", "exported") for s in stamps)


def _kinds(kinds: list[tuple[str, str]]) -> str:
    return _some([f"{tier} {limit}" for tier, limit in kinds])


def _floors(ev: Evidence) -> list[str]:
    protocol = ev.manifest.protocol
    found = []
    if protocol.alpha > limits.FLOOR_ALPHA:
        found.append(f"alpha {rational_text(protocol.alpha)}, at most {rational_text(limits.FLOOR_ALPHA)}")
    if protocol.max_excluded_share > limits.FLOOR_EXCLUDED_SHARE:
        found.append(
            f"max_excluded_share {rational_text(protocol.max_excluded_share)}, at most {rational_text(limits.FLOOR_EXCLUDED_SHARE)}"
        )
    if protocol.min_stratum_items < limits.FLOOR_STRATUM_ITEMS:
        found.append(f"min_stratum_items {protocol.min_stratum_items}, at least {limits.FLOOR_STRATUM_ITEMS}")
    if protocol.min_kept_items < limits.FLOOR_KEPT_ITEMS:
        found.append(f"min_kept_items {protocol.min_kept_items}, at least {limits.FLOOR_KEPT_ITEMS}")
    return found


def _protocol_diff(ev: Evidence) -> str:
    """What the protocol said when the trials started, against what it says now."""
    before = ev.campaign.get("protocol") or {}
    now = ev.manifest.model_dump(mode="json")["protocol"]
    differs = [
        f"{key} {before.get(key)} → {now[key]}" for key in sorted(now) if key in before and before[key] != now[key]
    ]
    return f": {_some(differs)}" if differs else ""


def _some(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return "; ".join(names[:most]) + more
