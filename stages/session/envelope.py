"""The registered limits of a session, each a rule with an id (the session-stamp article)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stages.contract.protocol import Envelope
from stages.contract.stamp import OBSERVED, Stamp


def _allowed(server: str, patterns: Sequence[str]) -> bool:
    return any(re.fullmatch(".*".join(map(re.escape, p.split("*"))), server) for p in patterns)


def violation(stamps: Sequence[Stamp | str], attempts: int, envelope: Envelope) -> tuple[str, str] | None:
    """(rule id, what was found) of the first limit that a trial breaks, or None if all of its attempts are inside.

    `stamps` are those of the trial's attempts (a text stands for one that couldn't be read); `attempts` is how many
    there should be.
    """
    bad = [s for s in stamps if isinstance(s, str)]
    if bad:
        return "missing_stamp", bad[0]
    good = [s for s in stamps if isinstance(s, Stamp)]
    if len(good) < attempts or not good:
        return "missing_stamp", f"{len(good)} stamps for {attempts} attempts"
    for stamp in sorted(good, key=lambda s: s.attempt):
        found = _first(stamp, envelope)
        if found:
            return found[0], f"attempt {stamp.attempt}: {found[1]}"
    return None


def _first(stamp: Stamp, envelope: Envelope) -> tuple[str, str] | None:
    for name in OBSERVED:
        if getattr(stamp, name) is None:
            return "stamp_unavailable", f"{name} unavailable: {getattr(stamp, f'{name}_why')}"
    assert stamp.server_id is not None
    assert stamp.queue_ms is not None
    assert stamp.retries is not None
    if not _allowed(stamp.server_id, envelope.servers):
        return "foreign_server", f"server_id {stamp.server_id}, allowed {', '.join(envelope.servers)}"
    if stamp.queue_ms > envelope.max_queue_ms:
        return "queue_delay", f"queue_ms {stamp.queue_ms:g}, at most {envelope.max_queue_ms}"
    if stamp.retries > envelope.max_retries:
        return "retries", f"retries {stamp.retries}, at most {envelope.max_retries}"
    if stamp.quota_state not in envelope.quota_states:
        return "quota_state", f"quota_state {stamp.quota_state}, allowed {', '.join(envelope.quota_states)}"
    if stamp.route_changed and not envelope.allow_route_change:
        return "route_change", "the route changed during the trial"
    return None
