"""The registered limits of a session, each a rule with an id (the session-stamp article)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from stages.contract.protocol import Envelope, Protocol
from stages.contract.stamp import OBSERVED, Stamp

SLACK = timedelta(seconds=5)
"""How far a stamp's start may lie outside of its trial: clocks are read one after the other."""


def violations(
    stamps: Sequence[Stamp | str],
    attempts: int,
    envelope: Envelope,
    ran: tuple[datetime, datetime] | None = None,
) -> Iterator[tuple[str, str]]:
    """(rule id, what was found) of every limit that a trial breaks; none if all of its attempts are inside.

    `stamps` are those of the trial's attempts (a text stands for one that couldn't be read); `attempts` is how many
    there should be; `ran` is when the last attempt's process started and ended, where that is known. A stamp that a
    person asserted is none.
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
    for found in (*amiss([(s.attempt, s.started_at) for s in good]), *_untimely(good, attempts, ran)):
        yield "missing_stamp", found
    for stamp in good:
        for rule, found in broken(stamp, envelope):
            yield rule, f"attempt {stamp.attempt}: {found}"


def first_violation(
    stamps: Sequence[Stamp | str],
    attempts: int,
    protocol: Protocol,
    ran: tuple[datetime, datetime] | None = None,
) -> tuple[str, str] | None:
    """(rule id, what was found) of the first registered rule that a trial's stamps break; None if they break none."""
    found = violations(stamps, attempts, protocol.envelope, ran)
    return next((one for one in found if one[0] in protocol.exclusion_rules), None)


def amiss(attempts: Sequence[tuple[int, datetime]]) -> Iterator[str]:
    """What can't be of a trial's attempts, as their numbers and starts say: one twice, or one before its forerunner."""
    for attempt, count in sorted(Counter(attempt for attempt, _ in attempts).items()):
        if count > 1:
            yield f"attempt {attempt}: duplicate, it has {count} stamps"
    latest: datetime | None = None
    started: dict[int, list[datetime]] = {}
    for attempt, at in attempts:
        started.setdefault(attempt, []).append(at)
    for attempt in sorted(started):
        if latest is not None and min(started[attempt]) < latest:
            yield f"attempt {attempt}: out of order, it started before the attempt that it follows"
        latest = max([*started[attempt], *([latest] if latest else [])])


def _untimely(good: Sequence[Stamp], attempts: int, ran: tuple[datetime, datetime] | None) -> Iterator[str]:
    """Attempts that the trial hadn't, and starts outside of its time. Before the last attempt others may lie."""
    for stamp in good:
        if stamp.attempt > attempts:
            yield f"attempt {stamp.attempt}: the trial had {attempts}"
        elif ran is not None:
            # A local stamp starts when the attempt was due, its process when it had waited.
            waited = timedelta(milliseconds=stamp.queue_ms or 0.0 if stamp.queue_bound == "process_start" else 0.0)
            if stamp.started_at > ran[1] + SLACK:
                yield f"attempt {stamp.attempt}: started_at {_at(stamp.started_at)}, after the trial: {_at(ran[1])}"
            elif stamp.attempt == attempts and stamp.started_at < ran[0] - waited - SLACK:
                yield f"attempt {stamp.attempt}: started_at {_at(stamp.started_at)}, before the trial: {_at(ran[0])}"


def broken(stamp: Stamp, envelope: Envelope) -> Iterator[tuple[str, str]]:
    """(rule id, what was found) of every limit that one stamp breaks."""
    queue_name, queue_ms = _queue(stamp, envelope)
    wanted: dict[str, object] = {name: getattr(stamp, name) for name in OBSERVED} | {queue_name: queue_ms}
    if envelope.require_access_terms:
        wanted["access_terms"] = stamp.access_terms
    for name, value in wanted.items():
        if value is None:
            reason = stamp.why.get(name, stamp.why.get(name.partition(".")[0]))
            yield "stamp_unavailable", f"{name} unavailable: {reason}"
    if stamp.server_id is not None and not allowed_server(stamp.server_id, envelope.servers):
        yield "foreign_server", f"server_id {stamp.server_id}, allowed {', '.join(envelope.servers)}"
    if queue_ms is not None and queue_ms > envelope.max_queue_ms:
        yield "queue_delay", f"{queue_name} {queue_ms:g}, at most {envelope.max_queue_ms}"
    if stamp.retries is not None and stamp.retries > envelope.max_retries:
        yield "retries", f"retries {stamp.retries}, at most {envelope.max_retries}"
    if stamp.quota_state is not None and stamp.quota_state not in envelope.quota_states:
        yield "quota_state", f"quota_state {stamp.quota_state}, allowed {', '.join(envelope.quota_states)}"
    grounds = [] if envelope.allow_route_change else list(_grounds(stamp, envelope.aliases))
    if grounds:
        yield "route_change", f"the route changed during the trial: {'; '.join(grounds)}"[:1000]
    if stamp.conversation_empty is False:
        yield "conversation_empty", "the trial's first request carries an earlier conversation"
    if stamp.inconsistent:
        yield "stamp_inconsistent", "; ".join(stamp.inconsistent)[:1000]


def _queue(stamp: Stamp, envelope: Envelope) -> tuple[str, float | None]:
    """The delay that the envelope means, by name. A local program has no first byte: its delay is its start's."""
    if envelope.queue_field == "queue" or stamp.queue_bound == "process_start":
        return "queue_ms", stamp.queue_ms
    return "timing.first_byte_ms", stamp.timing.first_byte_ms if stamp.timing is not None else None


def _grounds(stamp: Stamp, aliases: dict[str, str]) -> Iterator[str]:
    """Why the route counts as changed. That another model served than was asked for is none where an alias says so.

    A stamp that names one model asked for and another that served says it itself, whatever its `route_changed`.
    """
    allowed = {said for pair in aliases.items() if len(said := _other(*pair)) < _CUT}
    asked = (stamp.requested and stamp.requested.model) or []
    served = (stamp.served and stamp.served.model) or []
    pair = [_other(asked[0], served[0])] if len(asked) == len(served) == 1 and asked != served else []
    yield from (what for what in dict.fromkeys([*stamp.route_what, *pair]) if what not in allowed)


_CUT = 500  # a longer ground is cut there, and says no more which models it names


def _other(asked: str, served: str) -> str:
    return f"asked for {asked}, served {served}"[:_CUT]


def _at(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def allowed_server(server: str, patterns: Sequence[str]) -> bool:
    """Whether a server's identity fits one of the envelope's patterns."""
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
