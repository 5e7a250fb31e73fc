"""Where a study stands: what was frozen, what ran, what is missing, and what the rest would take."""

from __future__ import annotations

import json
import os
import statistics
from pathlib import Path
from typing import Any

from stages.arms import Journal
from stages.contract import layout, parquet, tables
from stages.contract.digest import file_sha256
from stages.contract.errors import WeighbridgeError
from stages.contract.imported import is_imported
from stages.contract.plan import Plan
from stages.contract.study import read_params, read_plan
from stages.contract.text import read_json

ARMS = ("candidate", "control")
STEPS = [
    ("freeze", layout.MANIFEST),
    ("preflight", layout.ADMITTED),
    ("run", layout.CAMPAIGN),
    ("score", layout.LEDGER),
    ("exclude", layout.PAIRS),
    ("report", layout.DECISION),
]


def status(root: Path) -> dict[str, Any]:
    """JSON-ready. Reads the journal and never starts anything. Raises InputError where a file can't be read."""
    steps = {name: (root / path).is_file() for name, path in STEPS}
    made: dict[str, Any] = {"stages": steps, "trials": None, "decision": None, "next": None}
    if is_imported(root):
        made["stages"] = {"ingest": True, **{name: steps[name] for name in ("exclude", "report")}}
    elif steps["freeze"]:
        plan = read_plan(root)
        made |= {"slice_id": read_json(root / layout.MANIFEST).get("slice_id"), "trials": _trials(root, plan)}
    if steps["report"]:
        said = read_json(root / layout.DECISION)
        made["decision"] = {name: said.get(name) for name in ("decision", "reason", "slice_id")}
        made["unpulled"] = _unpulled(root)
    made["next"] = next((name for name, done in made["stages"].items() if not done), None)
    if made["next"] is None and made.get("unpulled"):
        made["next"] = "dvc pull"
    return made


def _trials(root: Path, plan: Plan) -> dict[str, Any]:
    """Arm to trials planned, finished, and what the others would take by those that are finished."""
    refused: set[str] = set()
    if (root / layout.ADMITTED).is_file():
        entries = read_json(root / layout.ADMITTED).get("items", {})
        refused = {item for item, entry in entries.items() if not entry.get("admitted")}
    planned = sum(i.item_id not in refused for i in plan.items) * plan.trial_budget
    sha, done = plan.sha256(), _stored(root, plan.sha256())
    cost: dict[str, list[float]] = {arm: [] for arm in ARMS}
    stopped = None
    folder = layout.journal(root)
    if (folder / "journal.sqlite").is_file():
        journal = Journal(folder)
        try:
            stopped = next((c["stopped"] for c in journal.campaigns() if c["plan"] == sha), None)
            for (item, arm, repeat), one in journal.load(sha):
                done[arm][item, repeat] = one.row
                calls = [json.loads(text) for attempt in one.calls for text in attempt]
                prices = [
                    call.get("usage", {}).get("cost_usd") for call in calls if isinstance(call.get("usage"), dict)
                ]
                cost[arm] += [float(price) for price in prices if price is not None]
        finally:
            journal.close()
    workers = _workers(root)
    made: dict[str, Any] = {"stopped": stopped, "workers": workers, "arms": {}}
    for arm in ARMS:
        own = getattr(plan.arms, arm)
        rows, left = list(done[arm].values()), planned - len(done[arm])
        wall = statistics.median([row["wall_s"] for row in rows]) if rows else None
        made["arms"][arm] = {
            "name": own.name,
            "planned": planned,
            "finished": len(rows),
            "left": left,
            "paid": own.paid,
            "wall_s_median": wall,
            "left_s_at_most": left * plan.time_budget_s / workers,
            "left_s_about": None if wall is None else left * wall / workers,
            "cost_usd": round(sum(cost[arm]), 6) if cost[arm] else None,
            "left_cost_usd_about": round(left * sum(cost[arm]) / len(rows), 6) if cost[arm] and rows else None,
        }
    return made


def _stored(root: Path, plan_sha256: str) -> dict[str, dict[tuple[str, int], dict[str, Any]]]:
    """Arm to the trials of this plan that were pulled: a clone has no journal."""
    done: dict[str, dict[tuple[str, int], dict[str, Any]]] = {arm: {} for arm in ARMS}
    if (root / layout.TRIALS).is_file():
        for row in parquet.read(root / layout.TRIALS, tables.TRIALS).to_pylist():
            if row["plan_sha256"] == plan_sha256 and row["arm"] in done:
                done[row["arm"]][row["item_id"], row["repeat"]] = row
    return done


def _workers(root: Path) -> int:
    try:
        said = read_params(root).run.workers
    except WeighbridgeError:
        said = "auto"
    return (os.cpu_count() or 1) if said == "auto" else int(said)


def _unpulled(root: Path) -> list[str]:
    """Files that the bill lists and that aren't here, or are other bytes."""
    path = root / layout.BILL
    if not path.is_file():
        return [layout.BILL.as_posix()]
    rows = read_json(path).get("files", [])
    return [
        row["path"]
        for row in rows
        if not (root / row["path"]).is_file() or file_sha256(root / row["path"]) != row["sha256"]
    ]
