"""The campaign's own record, written before its first trial: what nothing later may read from git or the clock."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import git

from stages import __version__
from stages.arms.journal import Journal
from stages.contract import layout
from stages.contract.plan import Manifest, Plan
from stages.contract.types import plain
from stages.sandbox import Isolation


def make_record(
    root: Path, plan: Plan, manifest: Manifest, journal: Journal, isolation: Isolation, events: list[str]
) -> dict[str, Any]:
    """campaign.json of a campaign that is about to start. `events` are the exclusion events that stand already.

    A look is a campaign of new trials for the same pack lineage, control and candidate; `candidates` are the names
    already tried against this control on this slice. Both come from the journal.
    """
    control, candidate = plan.arms.control.name, plan.arms.candidate.name
    earlier = journal.campaigns()
    same = [c for c in earlier if (c["pack_id"], c["control"], c["candidate"]) == (plan.pack_id, control, candidate)]
    on_slice = {c["candidate"] for c in earlier if c["slice"] == manifest.slice_id and c["control"] == control}
    return {
        "schema": "weighbridge.campaign/1",
        "plan_sha256": plan.sha256(),
        "pack_sha256": plan.pack_sha256,
        "slice_id": manifest.slice_id,
        "study_id": manifest.study_id,
        "manifest_sha256": manifest.sha256(),
        "campaign": plan.campaign,
        "registry": None,
        "registration": "none",
        "started_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "look": len(same) + 1,
        "earlier_looks": [{"plan": c["plan"], "started_at": c["started_at"], "campaign": c["campaign"]} for c in same],
        "candidates": sorted(on_slice | {candidate}),
        "git": _git_state(root),
        "harness": {"version": __version__, "python": platform.python_version(), "system": platform.system()},
        "isolation": {"tier": isolation.tier, "why": isolation.why, "enforced": isolation.enforced},
        "mode": manifest.study.mode,
        "protocol": plain(manifest.protocol),
        "events": events,
        "items": {i.item_id: {"sha256": i.item_sha256, "stratum": i.stratum} for i in plan.items},
        "stopped": None,
        "pack_changed": None,
    }


def _git_state(root: Path) -> dict[str, Any]:
    try:
        repo = git.Repo(os.environ.get("DVC_ROOT") or root, search_parent_directories=True)
        head = repo.head.commit.hexsha
        changed = {item.a_path or "" for item in repo.index.diff(None)} | {
            i.a_path or "" for i in repo.index.diff("HEAD")
        }
    except (git.InvalidGitRepositoryError, git.NoSuchPathError, ValueError, git.GitCommandError):
        return {"head": None, "clean": None}
    authored = [p for p in changed if p == str(layout.PARAMS) or p.startswith("data/pack")]
    return {"head": head, "clean": not authored}


def changed_pack(plan: Plan, journal: Journal) -> dict[str, Any] | None:
    """The earlier campaign whose pack was edited under the same name, and what differs; None if there is none."""
    arms = (plan.arms.control.name, plan.arms.candidate.name)
    for one in reversed(journal.campaigns()):
        record = one["record"]
        same = (one["pack_id"], one["pack_revision"], one["campaign"]) == (
            plan.pack_id,
            plan.pack_revision,
            plan.campaign,
        )
        if not same or (one["control"], one["candidate"]) != arms:
            continue
        if record["pack_sha256"] == plan.pack_sha256:
            return None
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
            "plan": one["plan"],
            "old": record["pack_sha256"],
            "new": plan.pack_sha256,
            "differs": differs,
        }
    return None
