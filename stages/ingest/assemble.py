"""Two arms' rows as one study: its items, its trials, its ledger, and what was found on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from stages.contract import imported
from stages.contract.errors import InputError
from stages.ingest.compare import compare, verdicts
from stages.ingest.model import ROWS, Notes, Planned, Reading
from stages.ingest.settle import (
    ARMS,
    Bools,
    Coded,
    Ints,
    code,
    drop_cached,
    drop_copies,
    drop_same_trial,
    in_one_arm,
    ranks,
)

ONE_STRATUM = "all"
_ENDED = {"passed": "completed", "failed": "completed", "broken": "completed"}


@dataclass(frozen=True)
class Assembled:
    """What a study is made of. `facts`: arm to what its logs say of it; `excluded`: (item, rule, time) by the log."""

    items: pa.Table
    trials: pa.Table
    ledger: pa.Table
    repeats: int
    planned_by: str
    facts: dict[str, dict[str, str]]
    excluded: list[tuple[str, str, str | None]]
    registered: list[str] | None
    legacy: dict[str, Any]
    labels: dict[str, str]  # their names of the arms to ours
    first: dict[str, int]  # arm to its lowest repeat, as its log numbers them; here they count from 0


def assemble(
    readings: Sequence[tuple[str | None, Reading]],
    names: Mapping[str, str],
    strata: Mapping[str, str] | None,
    policy: str,
    notes: Notes,
) -> Assembled:
    """Join readings, each of one arm or of both (None: its rows name theirs, `names` maps those to ours).

    `strata` gives each item's stratum from elsewhere. `policy`: items of one arm only are `listed`, or `missing` in the
    other. Raises InputError where the logs can't be one study.
    """
    table, labels = _joined(readings, names, notes)
    rows = code(table)
    alive = np.ones(table.num_rows, dtype=bool)
    drop_cached(rows, alive, notes)
    verdicts(rows, alive, notes)
    spoilt = drop_same_trial(rows, alive, notes)
    spoilt |= drop_copies(rows, alive, notes)
    plan = _plan([reading.planned for _, reading in readings if reading.planned is not None])
    lone = in_one_arm(rows, alive, None if plan is None else sorted(plan.items), notes)
    if plan is None and policy == "listed":
        alive &= ~np.isin(rows.item, lone)
    if not alive.any():
        raise InputError("the logs", "no item that both arms have", "two arms over the same items")
    facts = _facts(readings, labels)
    items = _items(rows, alive, plan, strata, notes)
    compare(rows, alive, facts, notes)
    repeats = _repeats(rows, alive, plan, items, notes)
    rows.status[spoilt] = -1
    trials, ledger = _tables(rows, alive, spoilt, items)
    return Assembled(
        items,
        trials,
        ledger,
        repeats,
        "log" if plan is None else "plan",
        facts,
        [one for _, reading in readings for one in reading.excluded],
        next((list(r.registered) for _, r in readings if r.registered is not None), None),
        {key: value for _, reading in readings for key, value in reading.legacy.items()},
        labels,
        dict(zip(ARMS, rows.first, strict=True)),
    )


def _plan(plans: Sequence[Planned]) -> Planned | None:
    """What any of the logs planned: an item that one arm never ran is missing there. Raises InputError."""
    if not plans:
        return None
    items: dict[str, tuple[str | None, bool]] = {}
    for plan in plans:
        for item, (stratum, placebo) in plan.items.items():
            other, flag = items.get(item, (None, False))
            if stratum is not None and other is not None and stratum != other:
                raise InputError(f"item {item}", f"planned in {other} and {stratum}", "one stratum")
            items[item] = (stratum or other, placebo or flag)
    return Planned(items, max(plan.repeats for plan in plans))


def _joined(
    readings: Sequence[tuple[str | None, Reading]], names: Mapping[str, str], notes: Notes
) -> tuple[pa.Table, dict[str, str]]:
    """(all rows with our names of the arms, theirs to ours)."""
    labels: dict[str, str] = {}
    parts = []
    for arm, reading in readings:
        rows = reading.rows
        if arm is not None:
            own = set(pc.unique(rows["arm"]).to_pylist()) - {None}
            if len(own) > 1:
                many = ", ".join(sorted(own)[:5])
                raise InputError(f"the {arm}'s log", f"holds {len(own)} arms: {many}", "one", "give it as LOG instead")
            labels |= dict.fromkeys(own or {""}, arm) if len(readings) == 1 else {}
            made = pa.repeat(pa.scalar(arm), rows.num_rows)
        else:
            theirs = rows["arm"]
            if theirs.null_count:
                raise InputError(
                    "the log",
                    "rows without an arm",
                    "an arm in every row",
                    "or one log per arm: --candidate and --control",
                )
            own = set(pc.unique(theirs).to_pylist())
            labels |= _labels(sorted(own), names)
            kept = pc.is_in(theirs, pa.array(sorted(labels)))
            rows = rows.filter(kept)
            others = sorted(own - labels.keys())
            if others:
                count = len(theirs) - rows.num_rows
                shown = ", ".join(map(repr, others[:5])) + (", …" if len(others) > 5 else "")
                notes.add("other_arms", "rows", f"{count} rows of {len(others)} other arms: {shown}", count)
            made = _renamed(rows["arm"], labels)
        parts.append(rows.set_column(ROWS.get_field_index("arm"), ROWS.field("arm"), made))
    table = pa.concat_tables(parts)
    for arm in ARMS:
        if not pc.any(pc.equal(table["arm"], arm)).as_py():
            raise InputError("the logs", f"no row of the {arm}", "rows of both arms")
    return table, labels


def _renamed(theirs: pa.ChunkedArray, labels: Mapping[str, str]) -> pa.Array:
    found = pc.index_in(theirs, pa.array(sorted(labels)))
    return pc.take(pa.array([labels[name] for name in sorted(labels)]), found)


def _labels(found: list[str], names: Mapping[str, str]) -> dict[str, str]:
    """Their names of the arms to ours, as declared, or as they are called already."""
    wanted = {names.get(arm, arm): arm for arm in ARMS}
    missing = sorted(set(wanted) - set(found))
    if missing or len(wanted) < 2:
        raise InputError(
            "the log: arms",
            f"{', '.join(found[:8])}",
            "which is the candidate and which the control",
            "say --candidate-name THEIRS --control-name THEIRS",
        )
    return wanted


def _facts(readings: Sequence[tuple[str | None, Reading]], labels: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Arm to what all of its logs say of it; two that differ are both said."""
    found: dict[str, dict[str, list[str]]] = {arm: {} for arm in ARMS}
    for arm, reading in readings:
        for label, facts in reading.facts.items():
            into = arm or labels.get(label)
            for key, value in facts.items() if into else ():
                found[str(into)].setdefault(key, []).append(value)
    return {arm: {k: " and ".join(sorted(set(v))) for k, v in sorted(own.items())} for arm, own in found.items()}


def _items(rows: Coded, alive: Bools, plan: Planned | None, strata: Mapping[str, str] | None, notes: Notes) -> pa.Table:
    """The items of the study, with the one stratum, cluster and placebo flag that their rows agree on."""
    where = np.flatnonzero(alive)
    present = np.unique(rows.item[where])
    label = _agreed(rows, where, "stratum", "strata") if strata is None else None
    cluster = _agreed(rows, where, "cluster", "clusters")
    digest = _agreed(rows, where, "item_digest", None)
    flags = rows.table["placebo"].to_numpy(zero_copy_only=False).astype(bool)
    flagged = np.bincount(rows.item[where], weights=flags[where], minlength=len(rows.items))
    placebo = flagged > 0
    torn = np.flatnonzero(placebo & (flagged < np.bincount(rows.item[where], minlength=len(rows.items))))
    if len(torn):
        found = "a placebo in some of its rows and not in others"
        raise InputError(f"item {rows.items[int(torn[0])]}", found, "one or the other in both arms")
    if plan is None:
        ids = [rows.items[i] for i in present.tolist()]
        columns = {
            "item_id": ids,
            "stratum": [strata.get(item) for item in ids]
            if strata is not None
            else [label[i] for i in present.tolist()]
            if label is not None
            else [None] * len(ids),
            "cluster": [cluster[i] for i in present.tolist()],
            "placebo": placebo[present].tolist(),
            "item_digest": [digest[i] for i in present.tolist()],
        }
    else:
        columns = _planned_items(rows, present.tolist(), plan, strata, label, cluster, placebo, digest)
    labels, ids = columns["stratum"], columns["item_id"]
    if strata is None and all(one is None for one in labels):
        notes.add("no_strata", "rows", f"{len(ids)} items in one stratum, `{ONE_STRATUM}`")
        columns["stratum"] = [ONE_STRATUM] * len(ids)
    elif None in labels:
        bare = ids[labels.index(None)]
        found = f"{sum(one is None for one in labels)} items have none; see --strata"
        raise InputError(f"item {bare}", "no stratum", "one for each item", found)
    return pa.table([pa.array(columns[f.name], f.type) for f in imported.ITEMS], schema=imported.ITEMS)


def _planned_items(
    rows: Coded,
    present: list[int],
    plan: Planned,
    strata: Mapping[str, str] | None,
    label: list[str | None] | None,
    cluster: list[str | None],
    placebo: Bools,
    digest: list[str | None],
) -> dict[str, list[Any]]:
    """Columns of the items that a log's own plan names. Raises InputError for rows of others."""
    seen = {rows.items[i]: i for i in present}
    odd = sorted(seen.keys() - plan.items.keys())
    if odd:
        raise InputError("the logs", f"outcomes of {', '.join(odd[:3])}", "items that the log's plan names")
    columns: dict[str, list[Any]] = {name: [] for name in imported.ITEMS.names}
    for item, (stratum, flag) in sorted(plan.items.items()):
        i = seen.get(item)
        own = None if i is None or label is None else label[i]
        if own is not None and stratum is not None and own != stratum:
            raise InputError(f"item {item}", f"stratum {own}", f"{stratum}, as planned")
        columns["item_id"].append(item)
        columns["stratum"].append(own or stratum if strata is None else strata.get(item))
        columns["cluster"].append(None if i is None else cluster[i])
        columns["placebo"].append(flag or (i is not None and bool(placebo[i])))
        columns["item_digest"].append(None if i is None else digest[i])
    return columns


def _agreed(rows: Coded, where: Ints, name: str, what: str | None) -> list[str | None]:
    """Item rank to the one value of its rows, None where they have none, or (for `what` None) several.

    Raises InputError where rows of one item disagree: nothing may be moved into an easier bin.
    """
    if rows.table[name].null_count == rows.table.num_rows:
        return [None] * len(rows.items)
    texts, codes = ranks(rows.table[name])
    low = np.full(len(rows.items), len(texts), dtype=np.int64)
    high = np.full(len(rows.items), -1, dtype=np.int64)
    known = where[codes[where] >= 0]
    np.minimum.at(low, rows.item[known], codes[known])
    np.maximum.at(high, rows.item[known], codes[known])
    several = np.flatnonzero((high >= 0) & (low != high))
    if len(several) and what is not None:
        i = int(several[0])
        raise InputError(f"item {rows.items[i]}", f"two {what}: {texts[low[i]]} and {texts[high[i]]}", "one")
    one = np.where(low == high, high, -1)
    return [texts[at] if at >= 0 else None for at in one.tolist()]


def _repeats(rows: Coded, alive: Bools, plan: Planned | None, items: pa.Table, notes: Notes) -> int:
    """Repeats that each item should have in either arm; those that have others are noted."""
    where = np.flatnonzero(alive)
    counts = np.bincount(rows.item[where] * 2 + rows.arm[where], minlength=2 * len(rows.items)).reshape(-1, 2)
    most = int(counts.max()) if plan is None else plan.repeats
    seen = np.unique(rows.item[where])
    odd = seen[(counts[seen] != most).any(axis=1)]
    if len(odd):
        shown = [f"{rows.items[i]} {counts[i, 0]} and {counts[i, 1]}" for i in odd[:3].tolist()]
        notes.add(
            "repeats_differ",
            "rows",
            f"{len(odd)} items haven't {most} repeats in both arms: {', '.join(shown)}",
            len(odd),
            [rows.items[i] for i in odd[:50].tolist()],
        )
    absent = items.num_rows - len(seen)
    if absent:
        notes.add("repeats_differ", "plan", f"{absent} planned items have no row in either arm", absent)
    return most


def _tables(rows: Coded, alive: Bools, spoilt: Bools, items: pa.Table) -> tuple[pa.Table, pa.Table]:
    """(trials, ledger): all trials that stand in the logs, and those of them that have an outcome."""
    where = np.flatnonzero(alive)
    where = where[np.lexsort((rows.repeat[where], rows.arm[where], rows.item[where]))]
    needed = {*imported.TRIALS.names, *imported.LEDGER.names, "status"} & set(ROWS.names)
    picked = pa.array(where)
    taken = {name: _take(rows.table[name], picked) for name in ROWS.names if name in needed}
    status = pc.if_else(pa.array(spoilt[where]), pa.scalar(None, pa.string()), taken["status"])
    reason = pc.if_else(pa.array(spoilt[where]), pa.scalar("contradicting rows"), taken["reason"])
    ended = pc.coalesce(_mapped(status, _ENDED), status)
    repeat = pa.array(rows.repeat[where], pa.int64())
    own = {"ended": ended, "reason": reason, "repeat": repeat}
    trials = pa.table(
        [own[f.name] if f.name in own else taken[f.name] for f in imported.TRIALS], schema=imported.TRIALS
    )
    order = pc.index_in(taken["item_id"], items["item_id"].combine_chunks())
    scored = pc.is_valid(status)
    labels = {name: items[name].combine_chunks().take(order) for name in ("stratum", "cluster", "placebo")}
    made: dict[str, Any] = {
        **labels,
        "repeat": repeat,
        "status": status,
        "passed": pc.cast(pc.fill_null(pc.equal(status, "passed"), False), pa.int64()),
    }
    ledger = pa.table(
        [
            made[f.name] if f.name in made else taken[f.name] if f.name in ROWS.names else pa.nulls(len(where), f.type)
            for f in imported.LEDGER
        ],
        names=imported.LEDGER.names,
    )
    return trials, ledger.filter(scored).cast(imported.LEDGER)


def _take(column: pa.ChunkedArray, picked: pa.Array) -> pa.Array:
    if column.null_count == len(column):
        return pa.nulls(len(picked), column.type)
    made = column.combine_chunks().take(picked)
    return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made


def _mapped(values: pa.Array, into: Mapping[str, str]) -> pa.Array:
    keys = sorted(into)
    return pc.take(pa.array([into[k] for k in keys]), pc.index_in(values, pa.array(keys)))
