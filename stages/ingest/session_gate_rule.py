"""The session-stamp article's own publish gate, computed anew: which rows its envelope keeps and what it then says.

It stands beside our decision and never makes it: of two equal arms it published every fourth to seventh pair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from stages.contract.protocol import Protocol
from stages.contract.types import validate

TOO_FEW = "too_few_clean_tasks"
TOO_SMALL = "below_minimum_detectable_effect"
CROSSES = "stratum_spread_crosses_zero"
OPEN = "publish_blocked_delta_only"
_KEYS = ("envelope", "min_detectable_effect", "min_kept_items")
_ALONE = 1.0  # the width that the article gives a single stratum


class Row(NamedTuple):
    """One task in both arms, under one session. `queue_ms` in milliseconds."""

    task_id: str
    stratum: str
    digest: str
    baseline_pass: bool
    candidate_pass: bool
    queue_ms: float
    retries: int
    quota_state: str
    server_id: str
    route_changed: bool


@dataclass(frozen=True)
class Limits:
    """The article's envelope: one server by its exact name, and what its rule needs besides."""

    server_id: str
    max_queue_ms: int
    max_retries: int
    quota_states: frozenset[str]
    effect: float
    kept: int


def limits_of(protocol: Mapping[str, Any]) -> Limits | str:
    """The envelope within a protocol block, missing keys at their defaults; or why it isn't one of the article's.

    Raises InputError for a protocol that is none.
    """
    given = {key: protocol[key] for key in _KEYS if key in protocol}
    asked = validate(Protocol, given, "protocol")
    names = [server for server in asked.envelope.servers if "*" not in server]
    if len(names) != 1:
        return (
            f"its rule requires one server by its exact name; protocol.envelope.servers has "
            f"{len(names) or 'no'} name{'s' * (len(names) != 1)} without *"
        )
    return Limits(
        server_id=names[0],
        max_queue_ms=asked.envelope.max_queue_ms,
        max_retries=asked.envelope.max_retries,
        quota_states=frozenset(asked.envelope.quota_states),
        effect=float(asked.min_detectable_effect),
        kept=asked.min_kept_items,
    )


def clean(row: Row, limits: Limits) -> bool:
    """Whether a row's session stayed inside the envelope."""
    return (
        not row.route_changed
        and row.server_id == limits.server_id
        and row.quota_state in limits.quota_states
        and row.retries <= limits.max_retries
        and row.queue_ms <= limits.max_queue_ms
    )


def judge(rows: Iterable[Row], limits: Limits) -> dict[str, Any]:
    """The article's object: its keys in its order, `paired_delta` only where enough rows are clean.

    Deltas are candidate minus baseline, as floats, compared as the article compares them: a spread that equals the
    effect is told from one that doesn't by what is left after rounding. One pass; kept are counts and dropped ids.
    """
    hashed = hashlib.sha256()
    sums: dict[str, list[int]] = {}
    dropped: list[str] = []
    seen = 0
    for row in rows:
        hashed.update(f"{'|' * (seen > 0)}{row.task_id}:{row.digest}:{row.stratum}".encode())
        seen += 1
        if not clean(row, limits):
            dropped.append(row.task_id)
            continue
        tally = sums.setdefault(row.stratum, [0, 0])
        tally[0] += row.candidate_pass - row.baseline_pass
        tally[1] += 1
    deltas = {name: total / count for name, (total, count) in sorted(sums.items())}
    kept = seen - len(dropped)
    said: dict[str, Any] = {
        "slice_digest": hashed.hexdigest()[:16],
        "n_seen": seen,
        "n_kept": kept,
        "dropped": dropped,
        "stratum_deltas": deltas,
        "headline": None,
        "reason": TOO_FEW,
    }
    if kept < limits.kept or not kept:
        return said
    effect = sum(total for total, _ in sums.values()) / kept
    width = max(deltas.values()) - min(deltas.values()) if len(deltas) > 1 else _ALONE
    said["paired_delta"] = round(effect, 4)
    if abs(effect) < limits.effect:
        said["reason"] = TOO_SMALL
    elif effect - width <= 0 <= effect + width:
        said["reason"] = CROSSES
    else:
        said["headline"], said["reason"] = said["paired_delta"], OPEN
    return said
