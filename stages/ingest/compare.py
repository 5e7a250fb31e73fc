"""What two arms' rows say beside each other: contents, verdicts, servers and waits that can't be compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from stages.ingest.model import Notes
from stages.ingest.settle import ARMS, Bools, Coded, Ints, groups, named, ranks

FEWEST_MIXED = 5
"""Items whose repeats disagree, below which such a coincidence may be one."""


def compare(rows: Coded, alive: Bools, facts: Mapping[str, Mapping[str, str]], notes: Notes) -> None:
    """Note items that differ, servers that change within an arm, and waits within wall times."""
    where = np.flatnonzero(alive)
    _contents(rows, where, notes)
    _servers(rows, where, notes)
    _waits(rows, where, notes)
    _unions(rows, where, notes)
    runs = [own.get("run") for own in facts.values()]
    if len(runs) == 2 and runs[0] and runs[0] == runs[1]:
        notes.add("restated_run", "logs", f"both arms are run {runs[0]}")


def _contents(rows: Coded, where: Ints, notes: Notes) -> None:
    texts, digest = ranks(rows.table["item_digest"])
    if not texts:
        return
    known = where[digest[where] >= 0]
    low = np.full(len(rows.items), len(texts), dtype=np.int64)
    high = np.full(len(rows.items), -1, dtype=np.int64)
    np.minimum.at(low, rows.item[known], digest[known])
    np.maximum.at(high, rows.item[known], digest[known])
    odd = np.flatnonzero((high >= 0) & (low != high))
    if len(odd):
        ids = [rows.items[i] for i in odd[:50].tolist()]
        notes.add(
            "item_differs", "rows", f"{len(odd)} items have several contents: {', '.join(ids[:5])}", len(odd), ids
        )


def verdicts(rows: Coded, alive: Bools, notes: Notes) -> None:
    """Note patches to one item that were judged twice with two outcomes: their oracle can't be relied on."""
    where = np.flatnonzero(alive)
    _, patch = ranks(rows.table["patch_sha256"])
    judged = pc.is_in(rows.table["status"], pa.array(["passed", "failed", "broken"]))
    known = where[(patch[where] >= 0) & judged.to_numpy(zero_copy_only=False)[where]]
    if not len(known):
        return
    key = rows.item[known] * (int(patch.max()) + 1) + patch[known]
    odd = [group for group in groups(key, known) if len(set(rows.status[group].tolist())) > 1]
    if odd:
        ids = named(rows, np.concatenate(odd))
        notes.add("oracle_unstable", "rows", f"one patch with two verdicts in {', '.join(ids[:5])}", len(odd), ids)


def _servers(rows: Coded, where: Ints, notes: Notes) -> None:
    for a, arm in enumerate(ARMS):
        mine = where[rows.arm[where] == a]
        for name in ("server_id", "served_model", "served_by"):
            texts, served = ranks(rows.table[name])
            found = np.unique(served[mine])
            found = found[found >= 0]
            if len(found) > 1:
                shown = ", ".join(texts[i] for i in found[:5].tolist())
                notes.add("mixed_servers", arm, f"{name}: {shown}", len(found))


def _waits(rows: Coded, where: Ints, notes: Notes) -> None:
    waited = pc.or_kleene(pc.greater(rows.table["queue_ms"], 0), pc.greater(rows.table["retries"], 0))
    flags = pc.fill_null(waited, False).to_numpy(zero_copy_only=False)[where]
    counts = [int((flags & (rows.arm[where] == a)).sum()) for a in (0, 1)]
    if any(counts):
        said = f"{counts[0]} trials of the candidate and {counts[1]} of the control waited in a queue or were retried"
        notes.add("waits_in_wall_time", "rows", said, sum(counts))


def _unions(rows: Coded, where: Ints, notes: Notes) -> None:
    """Note an arm of one trial per item that passes exactly what any of the other arm's repeats pass."""
    passed = pc.fill_null(pc.equal(rows.table["status"], "passed"), False).to_numpy(zero_copy_only=False)[where]
    size = len(rows.items)
    counts, wins = [], []
    for a in (0, 1):
        mine = rows.arm[where] == a
        counts.append(np.bincount(rows.item[where][mine], minlength=size))
        wins.append(np.bincount(rows.item[where][mine & passed], minlength=size))
    for a, arm in enumerate(ARMS):
        both = (counts[a] == 1) & (counts[1 - a] > 1)
        mixed = both & (wins[1 - a] > 0) & (wins[1 - a] < counts[1 - a])
        if mixed.sum() >= FEWEST_MIXED and ((wins[a] > 0) == (wins[1 - a] > 0))[both].all():
            said = f"passes each item that any repeat of the {ARMS[1 - a]} passes, and no other"
            notes.add("union_of_arms", arm, said, int(both.sum()))
