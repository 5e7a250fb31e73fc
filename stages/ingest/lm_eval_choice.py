"""Which filter and which metric of a file of samples counts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.contract.errors import InputError
from stages.ingest.folders import json_rows
from stages.ingest.model import Notes
from stages.ingest.values import name

MAX_NAMES = 1_000

_OWN = frozenset(
    (
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "target_hash"),
    )
)


@dataclass(frozen=True)
class Choice:
    """The metric and filter that count."""

    metric: str
    filter: str


def choose(path: Path, what: str, wanted: str | None) -> Choice:
    """The only filter and metric of a file, or those that were named. Raises InputError where several are left.

    All rows are looked at: a second filter may begin only after all documents of the first.
    """
    filters: dict[str, None] = {}
    metrics: dict[str, None] = {}
    for number, row in json_rows(path, what, Notes()):
        found = row.get("filter", "none")
        if found is not None and not isinstance(found, str):
            raise InputError(f"{path.name}: line {number}: filter", f"{found!r:.60}", "text")
        filters[found or "none"] = None
        metrics |= dict.fromkeys(_metrics(row, f"{path.name}: line {number}"))
        if len(filters) + len(metrics) > MAX_NAMES:
            raise InputError(path.name, f"more than {MAX_NAMES} filters and metrics", what)
    for one in (*filters, *metrics):
        name(path.name, one, "a filter or metric")
    if not filters:
        raise InputError(path, "no row", what)
    metric, _, under = (wanted or "").partition(",")
    if wanted and not under:
        if wanted in filters and wanted in metrics:
            raise InputError(path, f"{wanted} is a filter and a metric", "METRIC,FILTER", "say --filter METRIC,FILTER")
        metric, under = ("", wanted) if wanted in filters else (wanted, "")
    return Choice(_one(path, "metric", metric, metrics), _one(path, "filter", under, filters))


def _metrics(row: dict[str, Any], where: str) -> list[str]:
    """Names of a row's metrics; older harnesses don't list them."""
    listed = row.get("metrics")
    if listed is None:
        return [key for key, value in row.items() if key not in _OWN and isinstance(value, bool | int | float)]
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise InputError(f"{where}: metrics", f"{listed!r:.60}", "a list of names")
    return listed


def _one(path: Path, what: str, wanted: str, found: dict[str, None]) -> str:
    shown = ", ".join(list(found)[:8]) or "none"
    if wanted and wanted not in found:
        raise InputError(path.name, f"no {what} {wanted}", f"one of {shown}")
    if not wanted and len(found) != 1:
        raise InputError(path.name, f"{len(found)} {what}s: {shown}", "one", f"choose the {what} with --filter")
    return wanted or next(iter(found))
