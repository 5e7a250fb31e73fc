"""Rule 1: may this batch be trusted at all? Each reason with the figures that give it."""

from __future__ import annotations

from stages.contract.design import bare_kinds
from stages.contract.digest import short
from stages.gate.conduct import conduct_reasons
from stages.gate.evidence import ARMS, Evidence, early_placebos, placebo_trials
from stages.gate.floors import below_floor
from stages.gate.wording import some

_REGISTRATION = ("none", "self_dated", "witnessed")


def batch_reasons(ev: Evidence, counted: dict[str, int]) -> dict[str, str]:
    """Reason id to the figures behind it. `counted` is what `counts` gives."""
    return {
        **_mode(ev),
        **_placebos(ev, counted),
        **_frozen(ev),
        **_exclusions(ev, counted),
        **conduct_reasons(ev),
        **_registered(ev),
        **_replayed(ev),
    }


def _mode(ev: Evidence) -> dict[str, str]:
    mode, before = ev.manifest.study.mode, ev.campaign.get("mode")
    if mode != "benchmark":
        return {"not_a_benchmark": f"study.mode is {mode}"}
    if before not in (None, "benchmark"):
        return {"retrospective": f"the trials were run as study.mode {before}, which shows outcomes as they come"}
    return {}


def _replayed(ev: Evidence) -> dict[str, str]:
    said = [f"{name} is {arm.patches}, which was there before the study" for name, arm in ev.replayed.items()]
    return {"retrospective": "; ".join([*said, *_mode(ev).values()])} if said else {}


def _placebos(ev: Evidence, counted: dict[str, int]) -> dict[str, str]:
    found: dict[str, str] = {}
    scored = placebo_trials(ev)
    if counted["placebos_passed"]:
        rows = scored[scored["verdict"] == "pass"]
        which = [f"{item} (untouched workspace)" for item in early_placebos(ev)]
        which += [f"{r.item_id} ({r.arm}, repeat {r.repeat})" for r in rows.itertuples()]
        found["placebo_passed"] = (
            f"{counted['placebos_passed']} of {counted['placebos_run']} placebo trials: {some(which)}"
        )
    arms = set(scored["arm"])
    if arms != set(ARMS):
        found["no_negative_control"] = f"placebo trials scored in {len(arms)} of 2 arms"
        return found
    kinds = {i.item_id: i.oracle.kind for i in ev.plan.items}
    shown = {kind for kind in kinds.values() if set(scored["arm"][scored["item_id"].map(kinds) == kind]) == set(ARMS)}
    kept = set(ev.pairs["item_id"][ev.pairs["kept"]])
    bare = bare_kinds([(kinds[item], False) for item in kept if item in kinds] + [(kind, True) for kind in shown])
    if bare:
        said = [f"{count} items have a {kind} oracle, and no placebo with one" for kind, count in bare.items()]
        found["no_negative_control"] = f"{some(said)} was scored in both arms"
    return found


def _frozen(ev: Evidence) -> dict[str, str]:
    """Do the outcomes belong to the pack and the protocol that are frozen? Only the first cause is named."""
    ledger, changed, manifest = ev.ledger, ev.campaign.get("pack_changed"), ev.manifest
    found: dict[str, str] = {}
    floors = below_floor(manifest.protocol)
    if floors:
        found["protocol_below_floor"] = "; ".join(floors)
    if changed:
        differs = [f"{d['item_id']} {d['what']}" for d in changed["differs"]] or ["pack.yaml"]
        found["pack_changed_after_run"] = (
            f"pack {short(changed['old'])} ran, pack {short(changed['new'])} is frozen: {some(differs)}"
        )
        return found
    foreign = ledger[ledger["plan_sha256"] != manifest.plan_sha256]
    planned = {(i.item_id, arm, r) for i in ev.plan.items for arm in ARMS for r in range(ev.plan.trial_budget)}
    beyond = [key for key in zip(ledger["item_id"], ledger["arm"], ledger["repeat"], strict=True) if key not in planned]
    slices = sorted(set(ledger["slice_id"]) - {manifest.slice_id})
    if len(foreign):
        plans = some(sorted({short(p) for p in foreign["plan_sha256"]}))
        found["outcomes_not_of_manifest"] = (
            f"{len(foreign)} trials of plan {plans}, frozen is {short(manifest.plan_sha256)}"
        )
    elif beyond:
        which = some([f"{item} ({arm}, repeat {repeat})" for item, arm, repeat in beyond])
        found["outcomes_not_of_manifest"] = f"{len(beyond)} trials that were never planned: {which}"
    elif slices:
        found["protocol_changed_after_run"] = (
            f"trials ran under slice {some([short(s) for s in slices])}, the manifest says {short(manifest.slice_id)}"
            + _protocol_diff(ev)
        )
    return found


def _protocol_diff(ev: Evidence) -> str:
    """What the protocol said when the trials started, against what it says now."""
    before = ev.campaign.get("protocol") or {}
    now = ev.manifest.model_dump(mode="json")["protocol"]
    differs = [
        f"{key} {before.get(key)} → {now[key]}" for key in sorted(now) if key in before and before[key] != now[key]
    ]
    return f": {some(differs)}" if differs else ""


def _exclusions(ev: Evidence, counted: dict[str, int]) -> dict[str, str]:
    found: dict[str, str] = {}
    refused = ev.exclusions[~ev.exclusions["accepted"]]
    bent = [f"{r.rule} for {r.item_id}: {r.refused_why}" for r in refused.itertuples()]
    if not ev.campaign["pack_changed"]:
        refused_items = {i for i, entry in ev.admitted["items"].items() if not entry["admitted"]}
        late = sorted(set(ev.ledger["item_id"]) & refused_items)
        bent += [f"{item} was refused by preflight after its trials had run" for item in late]
    if bent:
        found["posthoc_exclusion"] = some(bent)
    run = set(zip(ev.ledger["item_id"], ev.ledger["arm"], ev.ledger["repeat"], strict=True))
    placebos = [i.item_id for i in ev.plan.items if i.placebo and ev.admitted["items"][i.item_id]["admitted"]]
    lacking = sum((i, arm, r) not in run for i in placebos for arm in ARMS for r in range(ev.plan.trial_budget))
    if counted["missing"] or lacking:
        found["trials_missing"] = (
            f"{counted['missing']} of {counted['planned']} trials and {lacking} placebo trials have no outcome"
        )
    return found


def _registered(ev: Evidence) -> dict[str, str]:
    found: dict[str, str] = {}
    protocol, tried, has = ev.manifest.protocol, ev.campaign["candidates"], ev.campaign["registration"]
    if _REGISTRATION.index(has) < _REGISTRATION.index(protocol.require_registration):
        found["registration_missing"] = f"{has}, the protocol demands {protocol.require_registration}"
    if len(tried) > protocol.family:
        found["family_exceeded"] = f"{len(tried)} candidates tried ({some(tried)}), family is {protocol.family}"
    return found
