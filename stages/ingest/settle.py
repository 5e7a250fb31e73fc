"""Which rows of two arms' logs count: copies, contradictions, cached answers, items of one arm only.

Rows are handled by number; identifiers become ranks of their sorted texts, so that millions of rows stay small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from stages.ingest.model import Notes

ARMS = ("candidate", "control")
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Coded:
    """Rows as numbers. `item` is the rank of the id in `items` (sorted); a missing text's rank is -1."""

    items: list[str]
    item: Ints
    arm: Ints  # 0 candidate, 1 control
    repeat: Ints
    status: Ints  # rank among the statuses that occur; -1: no outcome
    table: pa.Table
    first: tuple[int, int]  # each arm's lowest repeat, as its log numbers them


def ranks(values: pa.ChunkedArray) -> tuple[list[str], Ints]:
    """(sorted distinct texts, rank of each value; -1 for null)."""
    encoded = pc.dictionary_encode(values.combine_chunks())
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    names: list[str] = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names) + 1, dtype=np.int64)
    place[order] = np.arange(len(names))
    place[-1] = -1
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return [names[at] for at in order], place[codes]


def code(table: pa.Table) -> Coded:
    """Rows of both arms, coded. A row without a repeat is the only one: repeat 0.

    Each arm's repeats count from its own lowest: one harness numbers them from 0, another from 1.
    """
    items, item = ranks(table["item_id"])
    arm = np.asarray(pc.equal(table["arm"], "control").to_numpy(zero_copy_only=False)).astype(np.int64)
    repeat = np.array(pc.fill_null(table["repeat"], 0).to_numpy(zero_copy_only=False), dtype=np.int64)
    first = [0, 0]
    for a in (0, 1):
        mine = arm == a
        if mine.any():
            first[a] = int(repeat[mine].min())
            repeat[mine] -= first[a]
    return Coded(items, item, arm, repeat, ranks(table["status"])[1], table, (first[0], first[1]))


def named(rows: Coded, which: Ints, most: int = 50) -> list[str]:
    """Ids of the items of some rows."""
    return [rows.items[i] for i in np.unique(rows.item[which])[:most]]


def drop_cached(rows: Coded, alive: Bools, notes: Notes) -> None:
    """Answers from a cache repeat another trial: they go, but for the first where an item has nothing else."""
    cached = rows.table["cached"].to_numpy(zero_copy_only=False).astype(bool) & alive
    if not cached.any():
        return
    key = rows.item * 2 + rows.arm
    own = set(key[alive & ~cached].tolist())
    seen: set[int] = set()
    gone = []
    for at in np.flatnonzero(cached):
        if int(key[at]) in own or int(key[at]) in seen:
            gone.append(at)
        seen.add(int(key[at]))
    which = np.asarray(gone, dtype=np.int64)
    alive[which] = False
    count = int(cached.sum())
    notes.add(
        "cached_repeats", "rows", f"{count} rows were answered from a cache", count, named(rows, np.flatnonzero(cached))
    )


def drop_same_trial(rows: Coded, alive: Bools, notes: Notes) -> Bools:
    """Rows with one trial id: within an arm they are copies, over two arms a restated run. True: no outcome counts."""
    spoilt = np.zeros(len(alive), dtype=bool)
    if rows.table["trial"].null_count == len(alive):
        return spoilt
    _, trial = ranks(rows.table["trial"])
    known = np.flatnonzero(alive & (trial >= 0))
    for group in groups(trial[known], known):
        if len(set(zip(rows.arm[group].tolist(), rows.item[group].tolist(), strict=True))) > 1:
            spoilt[group] = True
            shown = "; ".join(place(rows, int(at)) for at in group[:3])
            notes.add("restated_run", "rows", f"one trial id for {shown}", len(group), named(rows, group))
        else:
            rows.repeat[group] = rows.repeat[group[0]]  # however often its repeats were numbered
    return spoilt


def drop_copies(rows: Coded, alive: Bools, notes: Notes) -> Bools:
    """Rows of one item, arm and repeat: equal outcomes are counted once, others leave none. True: none counts."""
    spoilt = np.zeros(len(alive), dtype=bool)
    where = np.flatnonzero(alive)
    numbers, rank = np.unique(rows.repeat[where], return_inverse=True)  # their numbers may be as large as seeds are
    key = (rows.item[where] * 2 + rows.arm[where]) * len(numbers) + rank
    same: list[int] = []
    torn: list[int] = []
    for group in groups(key, where):
        alive[group[1:]] = False
        (same if len(set(rows.status[group].tolist())) == 1 else torn).append(int(group[0]))
        if len(set(rows.status[group].tolist())) > 1:
            spoilt[group[0]] = True
    for kind, found, said in (
        ("duplicate_rows", same, "trials stand more than once with one outcome"),
        ("conflicting_rows", torn, "trials stand more than once with several outcomes"),
    ):
        if found:
            which = np.asarray(found, dtype=np.int64)
            shown = "; ".join(place(rows, int(at)) for at in which[:5])
            notes.add(kind, "rows", f"{len(found)} {said}: {shown}", len(found), named(rows, which))
    return spoilt


def groups(key: Ints, where: Ints) -> list[Ints]:
    """Row numbers that share a key, of each key that several rows have; in the log's order."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    again = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
    if not len(again):
        return []
    starts = np.unique(np.searchsorted(ordered, ordered[again], side="left"))
    ends = np.searchsorted(ordered, ordered[starts], side="right")
    return [where[order[a:b]] for a, b in zip(starts, ends, strict=True)]


def place(rows: Coded, at: int) -> str:
    """Item, arm and repeat of a row, for people."""
    return f"{rows.items[rows.item[at]]} ({ARMS[rows.arm[at]]}, repeat {rows.repeat[at]})"


def in_one_arm(rows: Coded, alive: Bools, planned: Sequence[str] | None, notes: Notes) -> Ints:
    """Ranks of items that only one arm has, noted with their arm; none where a plan says which items there are."""
    has = [np.bincount(rows.item[alive & (rows.arm == a)], minlength=len(rows.items)) > 0 for a in (0, 1)]
    for a in (0, 1):
        lone = np.flatnonzero(has[a] & ~has[1 - a])
        if len(lone) and planned is None:
            ids = [rows.items[i] for i in lone[:50]]
            more = f" and {len(lone) - 5} more" if len(lone) > 5 else ""
            notes.add(
                "items_in_one_arm", ARMS[a], f"{len(lone)} items only here: {', '.join(ids[:5])}{more}", len(lone), ids
            )
    return np.flatnonzero(has[0] != has[1])
