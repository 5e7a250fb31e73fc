"""The campaign's own record, written before its first trial: what nothing later may read from git or the clock."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stages import __version__
from stages.arms.journal import Journal
from stages.arms.lineage import lineage, registered_candidates, registered_looks, registration
from stages.contract import layout
from stages.contract.errors import InputError
from stages.contract.history import blob, repository
from stages.contract.plan import Manifest, Plan
from stages.contract.registry import Line
from stages.contract.text import parse_json
from stages.contract.types import plain
from stages.sandbox import Isolation


def make_record(
    root: Path,
    plan: Plan,
    manifest: Manifest,
    journal: Journal,
    isolation: Isolation,
    how: dict[str, Any],
    say: Callable[[str], None],
) -> dict[str, Any]:
    """campaign.json of a campaign that is about to start.

    `how` holds `events`, the exclusion events that stand already, and `pack_path`. A look is a campaign of new trials
    for the same pack lineage, control and candidate; `candidates` are the names already tried against this control on
    this slice. Both come from the journal, from the campaign that git's HEAD holds, for a clone has no journal, and
    from what was registered.
    Trials of the very same plan in another clone are its replication and no look.
    """
    control, candidate = plan.arms.control.name, plan.arms.candidate.name
    started_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    registry = registration(root, manifest, started_at, say)
    earlier = earlier_campaigns(root, plan, journal)
    looks = looks_before(plan, earlier.values(), registry.lines)
    on_slice = [c for c in earlier.values() if c["slice_id"] == manifest.slice_id and c["control"] == control]
    return {
        "schema": "weighbridge.campaign/1",
        "plan_sha256": plan.sha256(),
        "pack_sha256": plan.pack_sha256,
        "slice_id": manifest.slice_id,
        "study_id": manifest.study_id,
        "manifest_sha256": manifest.sha256(),
        "campaign": plan.campaign,
        "registry": registry.found,
        "registration": registry.kind,
        "lineage": lineage(plan, manifest, earlier.values(), registry.lines),
        "started_at": started_at,
        **{"pack_id": plan.pack_id, "control": control, "candidate": candidate},
        "pack_revision": plan.pack_revision,
        "look": len(looks) + 1,
        "earlier_looks": sorted(looks.values(), key=lambda look: (look["started_at"], look["plan"])),
        "candidates": sorted(
            {name for c in on_slice for name in c["candidates"]}
            | registered_candidates(manifest, registry.lines)
            | {candidate}
        ),
        "git": _git_state(root, how["pack_path"]),
        "harness": {"version": __version__, "python": platform.python_version(), "system": platform.system()},
        "isolation": {"tier": isolation.tier, "why": isolation.why, "enforced": isolation.enforced},
        "mode": manifest.study.mode,
        "protocol": plain(manifest.protocol),
        "events": how["events"],
        "items": {i.item_id: {"sha256": i.item_sha256, "stratum": i.stratum} for i in plan.items},
        "stopped": None,
        "pack_changed": None,
    }


def earlier_campaigns(root: Path, plan: Plan, journal: Journal | None) -> dict[str, dict[str, Any]]:
    """Plan digest to the record of a campaign that the journal or git's HEAD knows of."""
    earlier = {c["plan"]: c["record"] for c in journal.campaigns()} if journal else {}
    committed = committed_campaign(root)
    if committed is not None and committed["plan_sha256"] != plan.sha256():
        earlier.setdefault(committed["plan_sha256"], committed)
    return earlier


def looks_before(plan: Plan, earlier: Iterable[dict[str, Any]], lines: Iterable[Line]) -> dict[str, dict[str, str]]:
    """Plan digest to a look at the same pack lineage, control and candidate, by another plan."""
    names = {"pack_id": plan.pack_id, "control": plan.arms.control.name, "candidate": plan.arms.candidate.name}
    looks = registered_looks(plan, lines)
    for one in earlier:
        if all(one[key] == value for key, value in names.items()):
            mine = {"plan": one["plan_sha256"], "started_at": one["started_at"], "campaign": one["campaign"]}
            looks |= {look["plan"]: look for look in [*one["earlier_looks"], mine] if look["plan"] != plan.sha256()}
    return looks


def committed_campaign(root: Path) -> dict[str, Any] | None:
    """The campaign record that git's HEAD holds, or None where there is none that can be read."""
    found = repository(root)
    if found is None:
        return None
    repo, inside = found
    data = blob(repo.head.commit, f"{inside}{layout.CAMPAIGN.as_posix()}")
    try:
        record = None if data is None else parse_json(layout.CAMPAIGN, data)
    except InputError:
        return None
    names = "plan_sha256 pack_sha256 slice_id pack_id pack_revision campaign control candidate started_at"
    wanted = [*names.split(), "earlier_looks", "candidates", "items"]
    return record if isinstance(record, dict) and all(key in record for key in wanted) else None


def _git_state(root: Path, pack: str) -> dict[str, Any]:
    """HEAD, and whether parameters and pack are as committed, new files included."""
    found = repository(root)
    if found is None:
        return {"head": None, "clean": None}
    repo, inside = found
    paths = [f"{inside}{layout.PARAMS.as_posix()}", f"{inside}{pack}"]
    changed = repo.git.status("--porcelain", "--untracked-files=all", "--", *paths)
    return {"head": repo.head.commit.hexsha, "clean": not str(changed).strip()}


def changed_pack(root: Path, plan: Plan, journal: Journal) -> dict[str, Any] | None:
    """The earlier campaign whose pack was edited under the same name, and what differs; None if there is none.

    Raises InputError where only git's HEAD knows of it, since there are no trials then that could be handed on.
    """
    named = (plan.pack_id, plan.pack_revision, plan.campaign)
    known: list[dict[str, Any]] = [c["record"] for c in reversed(journal.campaigns())]
    committed = committed_campaign(root)
    if committed is not None:
        known.append(committed)
    for record in known:
        if (record["pack_id"], record["pack_revision"], record["campaign"]) != named:
            continue
        if record["pack_sha256"] == plan.pack_sha256:
            return None
        if record is committed:
            raise InputError(
                "data/pack",
                f"edited after its trials ran, under the same name ({plan.pack_id} {plan.pack_revision})",
                f"the pack {record['pack_sha256'][:16]} that HEAD's campaign.json names",
                "undo the edit, or give pack.yaml a new revision",
            )
        new = {i.item_id: {"sha256": i.item_sha256, "stratum": i.stratum} for i in plan.items}
        old = record["items"]
        differs = []
        for item in sorted(set(new) | set(old)):
            if new.get(item) != old.get(item):
                a, b = old.get(item), new.get(item)
                what = "added" if a is None else "removed" if b is None else "edited"
                if a and b and a["stratum"] != b["stratum"]:
                    what = f"moved from {a['stratum']} to {b['stratum']}"
                differs.append({"item_id": item, "what": what})
        return {
            "plan": record["plan_sha256"],
            "old": record["pack_sha256"],
            "new": plan.pack_sha256,
            "differs": differs,
        }
    return None
