"""Which trials count: instrument rules from stamps, item rules from preflight, events; pairs as the protocol says."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stages.contract.plan import BESIDE, Manifest, Plan
from stages.contract.text import parse_json
from stages.gate.events import Event, judge_event
from stages.gate.inputs import check_inputs
from stages.gate.replaced import note_replaced
from stages.gate.stamped import own_stamps, ran
from stages.gate.weak import check_weak
from stages.session import first_violation

ARMS = ("candidate", "control")


@dataclass
class Excluded:
    """Rows of the exclusion table as they are found."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, rule: str, scope: str, item_id: str, evidence: str, **more: Any) -> None:
        self.rows.append(
            {
                "rule": rule,
                "scope": scope,
                "item_id": item_id,
                "arm": more.get("arm"),
                "repeat": more.get("repeat"),
                "time": more.get("time"),
                "evidence": evidence,
                "accepted": more.get("accepted", True),
                "refused_why": more.get("refused_why"),
            }
        )

    def numbered(self) -> list[dict[str, Any]]:
        """Sorted by what they are about, numbered from 1: the same rows whatever the order of the ledger."""
        rows = sorted(self.rows, key=lambda r: json.dumps(r, sort_keys=True, default=str))
        return [{"number": n, **row} for n, row in enumerate(rows, start=1)]


def apply_rules(
    plan: Plan,
    manifest: Manifest,
    ledger: list[dict[str, Any]],
    admitted: dict[str, Any],
    checks: list[dict[str, Any]],
    campaign: dict[str, Any],
    events: list[tuple[str, Event]],
    replaced: Sequence[dict[str, Any]] = (),
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(pairs, exclusions) as rows of their tables.

    Every planned pair of a real item has a row. `candidate_rule` and `control_rule` name what excluded that arm's
    trial; a pair is kept when both trials were scored and neither is excluded. Raises InputError where the files
    don't belong together.
    """
    check_inputs(plan, manifest, campaign)
    check_weak(manifest.protocol, admitted["items"], checks)
    out = Excluded()
    item_rule = _item_rules(plan, admitted, checks, out)
    placebos = {item.item_id: item.placebo for item in plan.items}
    for line, event in events:
        why = judge_event(line, event, placebos, manifest.protocol, admitted["items"], campaign["events"])
        out.add(
            event.rule,
            "event",
            event.item_id,
            event.evidence or line,
            time=event.stamp(),
            accepted=why is None,
            refused_why=why,
        )
        if why is None:
            item_rule.setdefault(event.item_id, event.rule)
    standing = {line for line, _ in events}
    for line in sorted(set(campaign["events"]) - standing):
        gone = parse_json("campaign.json: events", line.encode())
        why = "withdrawn after the first trial"
        out.add(str(gone["rule"]), "event", str(gone["item_id"]), line, accepted=False, refused_why=why)
    rows = {(r["item_id"], r["arm"], r["repeat"]): r for r in ledger}
    note_replaced(replaced, manifest.protocol, out)
    pairs = [
        _pair(manifest, rows, item.item_id, repeat, item.stratum, item.cluster, item_rule, out)
        for item in plan.items
        if not item.placebo
        for repeat in range(plan.trial_budget)
    ]
    _drop_thin_items(plan, pairs, rows, out)
    return pairs, out.numbered()


def _item_rules(plan: Plan, admitted: dict[str, Any], checks: list[dict[str, Any]], out: Excluded) -> dict[str, str]:
    """Item id to the rule by which preflight refused it, each written down with its evidence."""
    found: dict[str, str] = {}
    for item in plan.items:
        entry = admitted["items"][item.item_id]
        if item.placebo or entry["admitted"]:
            continue
        mine = [c for c in checks if (c["item_id"], c["rule"]) == (item.item_id, entry["rule"])]
        first = min(mine, key=lambda c: str(c["observed_at"]), default=None)
        evidence = f"{first['check']}: found {first['found']}, expected {first['expected']}" if first else ""
        out.add(entry["rule"], "item", item.item_id, evidence, time=first["observed_at"] if first else None)
        found[item.item_id] = entry["rule"]
    return found


def _pair(
    manifest: Manifest,
    rows: dict[tuple[str, str, int], dict[str, Any]],
    item_id: str,
    repeat: int,
    stratum: str,
    cluster: str | None,
    item_rule: dict[str, str],
    out: Excluded,
) -> dict[str, Any]:
    mine = {arm: rows.get((item_id, arm, repeat)) for arm in ARMS}
    rule: dict[str, str | None] = dict.fromkeys(ARMS)
    for arm, row in mine.items():
        if item_id in item_rule:
            rule[arm] = item_rule[item_id]
        elif row is not None:
            found = _instrument(row, manifest)
            if found:
                rule[arm] = found[0]
                out.add(found[0], "trial", item_id, found[1], arm=arm, repeat=repeat, time=row["started_at"])
    for arm, other in (ARMS, ARMS[::-1]):
        row, twin = mine[arm], mine[other]
        gone = twin is None or (rule[other] is not None and rule[other] != "pair_partner")
        if row is not None and rule[arm] is None and gone:
            rule[arm] = "pair_partner"
            what = "is missing" if twin is None else f"was excluded by {rule[other]}"
            out.add(
                "pair_partner",
                "pair",
                item_id,
                f"{other} {what}",
                arm=arm,
                repeat=repeat,
                time=row["started_at"],
            )
    known = next((r for r in mine.values() if r is not None), None)
    first = None if known is None else known["arm"] if known["position"] == 0 else ARMS[1 - ARMS.index(known["arm"])]
    return {
        "item_id": item_id,
        "repeat": repeat,
        "stratum": stratum,
        "cluster": cluster,
        "candidate": _outcome(mine["candidate"], rule["candidate"]),
        "control": _outcome(mine["control"], rule["control"]),
        "candidate_status": mine["candidate"]["status"] if mine["candidate"] else "missing",
        "control_status": mine["control"]["status"] if mine["control"] else "missing",
        "candidate_late": bool(mine["candidate"] and mine["candidate"]["late_pass"]),
        "control_late": bool(mine["control"] and mine["control"]["late_pass"]),
        "candidate_beside": _beside(mine["candidate"]),
        "control_beside": _beside(mine["control"]),
        "first": first or "none",
        "candidate_rule": rule["candidate"],
        "control_rule": rule["control"],
        "kept": all(mine.values()) and not any(rule.values()),
    }


def _beside(row: dict[str, Any] | None) -> bool:
    """Whether a trial passed only where its code could reach the tests."""
    return bool(row and row["passed"] and str(row["verdict_reason"]).endswith(BESIDE))


def _outcome(row: dict[str, Any] | None, rule: str | None) -> int | None:
    """1, 0, or None where there is no outcome: a trial that is missing, or was excluded as lost."""
    return None if row is None or rule == "lost" else int(row["passed"])


def _instrument(row: dict[str, Any], manifest: Manifest) -> tuple[str, str] | None:
    """The first registered rule by which the trial's instrument is to blame, and what was found; never an outcome."""
    if row["status"] == "lost":
        if row["attempts"] < 2 and "lost" in manifest.protocol.exclusion_rules:
            return "lost", str(row["ended_reason"])
        return None
    if getattr(manifest.arms, row["arm"]).replayed:  # no session was seen; the whole study is withheld for it
        return None
    stamps = own_stamps((row["item_id"], row["arm"], row["repeat"]), row["stamps"])
    return first_violation(stamps, row["attempts"], manifest.protocol, ran(row))


def _drop_thin_items(plan: Plan, pairs: list[dict[str, Any]], rows: dict[Any, dict[str, Any]], out: Excluded) -> None:
    """An item with fewer than half of its pairs kept is dropped whole, by a rule of its own."""
    least = math.ceil(plan.trial_budget / 2)
    by_item: dict[str, list[dict[str, Any]]] = {}
    for pair in pairs:
        by_item.setdefault(pair["item_id"], []).append(pair)
    for item_id, mine in by_item.items():
        kept = [p for p in mine if p["kept"]]
        if not kept or len(kept) >= least:
            continue
        times = [rows[(item_id, arm, p["repeat"])]["started_at"] for p in kept for arm in ARMS]
        evidence = f"{len(kept)} of {plan.trial_budget} pairs kept, at least {least}"
        out.add("too_few_pairs", "item", item_id, evidence, time=max(times))
        for pair in kept:
            pair.update(kept=False, candidate_rule="too_few_pairs", control_rule="too_few_pairs")
