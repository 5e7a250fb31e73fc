"""The registered limits of a session, each a rule with an id (the session-stamp article)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stages.contract.protocol import Envelope
from stages.contract.stamp import OBSERVED, Stamp


def _allowed(server: str, patterns: Sequence[str]) -> bool:
    return any(_matches(server, pattern) for pattern in patterns)


def _matches(text: str, pattern: str) -> bool:
    """Whether the whole text fits the pattern, in which only `*` is special and stands for any characters."""
    head, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, tail = rest
    if not text.startswith(head):
        return False
    at = len(head)
    for part in middle:  # the earliest place leaves the most room for what follows
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(text) - len(tail) >= at and text.endswith(tail)


def violations(stamps: Sequence[Stamp | str], attempts: int, envelope: Envelope) -> Iterator[tuple[str, str]]:
    """(rule id, what was found) of every limit that a trial breaks; none if all of its attempts are inside.

    `stamps` are those of the trial's attempts (a text stands for one that couldn't be read); `attempts` is how many
    there should be. A stamp that a person asserted is none.
    """
    good = sorted((s for s in stamps if isinstance(s, Stamp) and s.evidence != "asserted"), key=lambda s: s.attempt)
    for bad in stamps:
        if isinstance(bad, str):
            yield "missing_stamp", bad
        elif bad.evidence == "asserted":
            yield "missing_stamp", f"attempt {bad.attempt}: asserted by a person"
    seen = {s.attempt for s in good if s.attempt <= attempts}
    if len(seen) < max(attempts, 1):
        yield "missing_stamp", f"{len(seen)} stamps for {attempts} attempts"
    for stamp in good:
        for rule, found in _broken(stamp, envelope):
            yield rule, f"attempt {stamp.attempt}: {found}"


def _broken(stamp: Stamp, envelope: Envelope) -> Iterator[tuple[str, str]]:
    for name in OBSERVED:
        if getattr(stamp, name) is None:
            yield "stamp_unavailable", f"{name} unavailable: {getattr(stamp, f'{name}_why')}"
    if stamp.server_id is not None and not _allowed(stamp.server_id, envelope.servers):
        yield "foreign_server", f"server_id {stamp.server_id}, allowed {', '.join(envelope.servers)}"
    if stamp.queue_ms is not None and stamp.queue_ms > envelope.max_queue_ms:
        yield "queue_delay", f"queue_ms {stamp.queue_ms:g}, at most {envelope.max_queue_ms}"
    if stamp.retries is not None and stamp.retries > envelope.max_retries:
        yield "retries", f"retries {stamp.retries}, at most {envelope.max_retries}"
    if stamp.quota_state is not None and stamp.quota_state not in envelope.quota_states:
        yield "quota_state", f"quota_state {stamp.quota_state}, allowed {', '.join(envelope.quota_states)}"
    if stamp.route_changed and not envelope.allow_route_change:
        yield "route_change", "the route changed during the trial"
