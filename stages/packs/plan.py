"""The plan of a frozen pack: tables of every byte, and the registered schedule, drawn from the digest of the rest."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from stages.contract import parquet, tables
from stages.contract.design import check_design
from stages.contract.digest import canonical, digest, sha256
from stages.contract.errors import InputError
from stages.contract.layout import PARAMS
from stages.contract.plan import Block, Plan, PlanItem, dump
from stages.contract.protocol import Params
from stages.contract.trees import Entry
from stages.contract.types import plain
from stages.packs.read import FrozenItem, FrozenPack


@dataclass(frozen=True)
class Frozen:
    """What freeze makes of a pack, before the manifest."""

    plan: Plan
    items: pa.Table
    trees: pa.Table
    hidden: pa.Table


def build_plan(pack: FrozenPack, params: Params) -> Frozen:
    """Tables and plan of a frozen pack under these parameters. Raises InputError where they don't fit each other."""
    strata = Counter(i.task.stratum for i in pack.items if not i.task.placebo)
    if not strata:
        raise InputError(f"{params.pack.path}/tasks", "only placebos", "at least one real task")
    check_design(params.protocol, strata, PARAMS)
    for item in pack.items:
        if not item.task.oracle.hidden and params.study.mode != "tutorial":
            raise InputError(
                f"{params.pack.path}/tasks/{item.task.id}/task.yaml: oracle.hidden",
                "false",
                "true",
                "an open oracle is for study.mode: tutorial",
            )
    protocol = params.protocol
    planned = [item.planned(protocol.time_budget_s) for item in pack.items]
    items = parquet.table(tables.ITEMS, item_rows(planned))
    trees = parquet.table(tables.TREES, _all_open_rows(pack.items))
    hidden = parquet.table(tables.HIDDEN, [row for item in pack.items for row in _hidden_rows(item)])
    rest = Plan(
        pack_id=pack.pack.id,
        pack_revision=pack.pack.revision,
        pack_sha256=digest({"pack": plain(pack.pack), "items": [p.item_sha256 for p in planned]}),
        items_rows_sha256=parquet.rows_sha256(items),
        trees_rows_sha256=parquet.rows_sha256(trees),
        hidden_rows_sha256=parquet.rows_sha256(hidden),
        arms=params.arms,
        campaign=protocol.campaign,
        trial_budget=protocol.trial_budget,
        time_budget_s=protocol.time_budget_s,
        retry_ceiling=protocol.retry_ceiling,
        tools=protocol.tools,
        isolation=params.run.isolation,
        items=planned,
        schedule=[],
    )
    plan = rest.model_copy(update={"schedule": draw_schedule(rest)})
    return Frozen(plan, items, trees, hidden)


def draw_schedule(plan: Plan) -> list[Block]:
    """Blocks of (item, repeat) in an order, and arms within a block, that nobody chose.

    Both come from sha256 over the digest of everything else in the plan, so no seed can be shopped for and any
    library version draws the same.
    """
    seed = digest({**dump(plan), "schedule": []})

    def lot(item_id: str, repeat: int, what: str) -> str:
        return sha256(f"{seed}/{what}/{item_id}/{repeat}".encode())

    pairs = [(i.item_id, r) for i in plan.items for r in range(plan.trial_budget)]
    pairs.sort(key=lambda pair: (lot(pair[0], pair[1], "order"), pair))
    return [
        Block(item_id=i, repeat=r, first="candidate" if int(lot(i, r, "first")[-1], 16) % 2 else "control")
        for i, r in pairs
    ]


def item_rows(planned: list[PlanItem]) -> list[dict[str, Any]]:
    """Rows of the items table, in the plan's order."""
    return [_item_row(item) for item in planned]


def _item_row(item: PlanItem) -> dict[str, Any]:
    command = item.oracle.command or ["pytest", item.oracle.path]
    return {
        "item_id": item.item_id,
        "rev": item.rev,
        "stratum": item.stratum,
        "cluster": item.cluster,
        "placebo": item.placebo,
        "time_budget_s": item.time_budget_s,
        "prompt_path": item.prompt_path,
        "prompt_sha256": item.prompt_sha256,
        "oracle_kind": item.oracle.kind,
        "oracle_command": canonical(command).decode(),
        "oracle_sha256": item.oracle_sha256,
        "solution_sha256": item.solution_sha256,
        "tree_sha256": item.tree_sha256,
        "tree_git": item.tree_git,
        "allow": canonical(plain(item.allow)).decode(),
        "interface": canonical(plain(item.interface)).decode() if item.interface else None,
        "item_sha256": item.item_sha256,
    }


def _rows(item_id: str, role: str, files: list[Entry]) -> list[dict[str, Any]]:
    return [
        {
            "item_id": item_id,
            "role": role,
            "path": e.path,
            "mode": e.mode,
            "git_blob": e.git_blob,
            "sha256": e.sha256,
            "content": e.content,
        }
        for e in files
    ]


def _open_rows(item: FrozenItem) -> list[dict[str, Any]]:
    statement = Entry("statement.md", "100644", item.statement)
    return _rows(item.task.id, "statement", [statement]) + _rows(item.task.id, "workspace", item.tree)


def _all_open_rows(items: list[FrozenItem]) -> list[dict[str, Any]]:
    """Open rows of all items; a wheel that several items share lies with the first of them."""
    rows: list[dict[str, Any]] = []
    kept: set[str] = set()
    for item in items:
        rows += _open_rows(item)
        new = [wheel for wheel in item.wheels if wheel.sha256 not in kept]
        rows += _rows(item.task.id, "wheel", new)
        kept.update(wheel.sha256 for wheel in new)
    return rows


def _hidden_rows(item: FrozenItem) -> list[dict[str, Any]]:
    rows = _rows(item.task.id, "oracle", item.oracle) + _rows(item.task.id, "solution", item.solution)
    for name, files in item.wrong.items():
        rows += _rows(item.task.id, f"wrong/{name}", files)
    return rows
