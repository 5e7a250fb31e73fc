"""What was frozen, from its parts: digests of every file and tree, the plan, its schedule, the manifest and its ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stages.contract import layout, parquet, tables
from stages.contract.digest import sha256
from stages.contract.plan import Manifest, Plan, PlanItem, dump
from stages.contract.study import entries
from stages.contract.trees import Entry, git_tree_id, tree_digest
from stages.evidence.checking import Check, compare_json
from stages.evidence.opening import Opened

_SAME = ("campaign", "trial_budget", "time_budget_s", "retry_ceiling", "tools")


def frozen_check(found: Opened, plan: Plan, manifest: Manifest) -> Check:
    """The frozen tables against the plan, the plan against itself, the manifest against the plan."""
    from stages.freeze import manifest_of
    from stages.packs.plan import draw_schedule, item_rows

    check = Check("frozen", "frozen files, plan, schedule and manifest, from their parts")
    root = found.root
    without = layout.HIDDEN.as_posix() in found.without
    _tables(check, root, plan, without)
    items = parquet.read(root / layout.ITEMS, tables.ITEMS).to_pylist()
    compare_json(check, str(layout.ITEMS), items, item_rows(plan.items))
    files = entries(parquet.read(root / layout.TREES, tables.TREES))
    if without:
        check.unread.append("oracles and solutions were left out of this bundle: only their digests are here")
    else:
        files |= entries(parquet.read(root / layout.HIDDEN, tables.HIDDEN))
    for item in plan.items:
        _item(check, item, files, hidden=not without)
    check.same(f"{layout.PLAN}: schedule", plan.schedule == draw_schedule(plan), True, "as its digest draws it")
    for name in _SAME:
        check.same(
            f"{layout.MANIFEST}: protocol: {name}",
            getattr(manifest.protocol, name),
            getattr(plan, name),
            "as in the plan",
        )
    said = (manifest.study, manifest.selection, manifest.protocol, manifest.oracle, manifest.mutation_seed)
    compare_json(check, str(layout.MANIFEST), dump(manifest), dump(manifest_of(plan, *said)))
    check.note = f"slice {manifest.slice_id[:16]}, {len(plan.items)} items"
    return check


def _tables(check: Check, root: Path, plan: Plan, without: bool) -> None:
    for name, schema, expected in (
        (layout.ITEMS, tables.ITEMS, plan.items_rows_sha256),
        (layout.TREES, tables.TREES, plan.trees_rows_sha256),
        (layout.HIDDEN, tables.HIDDEN, plan.hidden_rows_sha256),
    ):
        if name == layout.HIDDEN and without:
            continue
        made = parquet.read(root / name, schema)
        check.same(f"{name}: rows_sha256", parquet.rows_sha256(made), expected, "as the plan says")
        if name != layout.ITEMS:
            for row in made.select(["item_id", "path", "mode", "git_blob", "sha256", "content"]).to_pylist():
                entry = Entry(row["path"], row["mode"], row["content"])
                where = f"{name}: {row['item_id']}: {row['path']}"
                check.same(f"{where}: sha256", row["sha256"], entry.sha256, "as its bytes give")
                check.same(f"{where}: git_blob", row["git_blob"], entry.git_blob, "as its bytes give")


def _item(check: Check, item: PlanItem, files: dict[tuple[str, str], list[Entry]], *, hidden: bool) -> None:
    where = f"{layout.PLAN}: {item.item_id}"
    tree, statement = files.get((item.item_id, "workspace"), []), files.get((item.item_id, "statement"), [])
    given: dict[str, Any] = {
        "tree_sha256": tree_digest(tree),
        "tree_git": git_tree_id(tree),
        "prompt_sha256": sha256(statement[0].content) if statement else None,
    }
    if hidden:
        solution = files.get((item.item_id, "solution"))
        given["oracle_sha256"] = tree_digest(files.get((item.item_id, "oracle"), []))
        given["solution_sha256"] = tree_digest(solution) if solution else None
    for name, value in given.items():
        check.same(f"{where}: {name}", getattr(item, name), value, "as its files give")


def preflight_check(root: Path, admitted: dict[str, Any]) -> Check:
    """Preflight's word on each item against its own evidence: refused by a rule that a check gives, or by none."""
    check = Check("preflight", "each item's admission against the checks that it rests on")
    rules: dict[str, set[str]] = {item: set() for item in admitted["items"]}
    for row in parquet.read(root / layout.CHECKS, tables.CHECKS).to_pylist():
        if row["item_id"] not in rules:
            check.differs.append(f"{layout.CHECKS}: {row['item_id']}: isn't in the plan")
        elif row["rule"] is not None:
            rules[row["item_id"]].add(row["rule"])
            check.same(f"{layout.CHECKS}: {row['item_id']}, {row['check']}: ok", row["ok"], False, "by its rule")
    for item, entry in admitted["items"].items():
        where = f"{layout.ADMITTED}: {item}"
        check.same(f"{where}: admitted", entry["admitted"], not rules[item], "as its checks give")
        if entry["rule"] is not None and entry["rule"] not in rules[item]:
            check.differs.append(f"{where}: rule {entry['rule']}, expected one that a check gives")
    refused = sum(not entry["admitted"] for entry in admitted["items"].values())
    check.note = f"{refused} of {len(admitted['items'])} items refused"
    return check
