"""What a Terminal-Bench run claims of its trials, set against its rows."""

from __future__ import annotations

from typing import Any

from stages.ingest.lines import finite
from stages.ingest.model import Notes
from stages.ingest.values import count, name

_TOLERANCE = 1e-6


def check_run(
    where: str, found: dict[str, Any], meta: dict[str, Any], rows: list[dict[str, Any]], notes: Notes
) -> None:
    """Note totals of a run that its rows don't give, and trials that it planned and hasn't."""
    resolved = sum(row.get("is_resolved") is True for row in rows)
    for key, own in (("n_resolved", resolved), ("n_unresolved", len(rows) - resolved)):
        claimed = count(where, found.get(key), key)
        if claimed is not None and claimed != own:
            notes.add("total_disagrees", where, f"{key} is {claimed}, the rows give {own}")
    rate = resolved / len(rows) if rows else 0.0
    for said, what in ((found, "accuracy"), (meta, "the metadata's accuracy")):
        claimed_rate = finite(said.get("accuracy"))
        if claimed_rate is not None and abs(claimed_rate - rate) > _TOLERANCE:
            notes.add("total_disagrees", where, f"{what} is {claimed_rate:g}, the rows give {rate:g}")
    ids = found.get("resolved_ids")
    passed = sorted({str(row.get("task_id")) for row in rows if row.get("is_resolved") is True})
    if isinstance(ids, list) and sorted({str(one) for one in ids}) != passed:
        notes.add(
            "total_disagrees", where, f"{len(ids)} ids are listed as resolved, the rows give {len(passed)} others"
        )
    planned = meta.get("task_ids")
    gone = (
        sorted({name(where, one, "a task of task_ids") for one in planned} - {str(row.get("task_id")) for row in rows})
        if (isinstance(planned, list))
        else []
    )
    if gone:
        notes.add("unfinished_run", where, f"{len(gone)} planned tasks have no row", len(gone), gone)
    tasks = count(where, meta.get("dataset_size"), "dataset_size") or 0
    total = tasks * (count(where, meta.get("n_attempts"), "n_attempts") or 1)
    if not gone and total > len(rows):
        notes.add("unfinished_run", where, f"{total} trials planned, {len(rows)} are there", total - len(rows))
    elif not gone and "end_time" in meta and meta["end_time"] is None:
        notes.add("unfinished_run", where, "the run has no end")
