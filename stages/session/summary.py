"""From the calls of one attempt to its stamp: delay the largest, retries the sum, quota the worst, any route change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal, get_args

from stages.contract.protocol import QuotaState
from stages.contract.stamp import (
    AccessTerms,
    Call,
    Evidence,
    Quota,
    Requested,
    Retry,
    Served,
    Stamp,
    Status,
    Timing,
    Usage,
)
from stages.session.chain import chained, counted, retries
from stages.session.dialects.values import NO_MODEL, UNNAMED, Why, distinct, fields, kept, number

NO_CALL = "no request reached the recorder (bypass)"
_TOO_LARGE = "the sum is larger than any that can be"
_NO_TERMS = "the arm names no source of them"
_ROUTE = ("model", "provider", "region", "deployment", "system_fingerprint")
_WORST: tuple[str, ...] = get_args(QuotaState)[:4]  # from the best to the worst
GROUPS = ("requested", "served", "timing", "retry", "quota", "status", "usage")
_SINGLE = ("server_id", "queue_ms", "queue_bound", "retries", "quota_state", "route_changed", "conversation_empty")


def no_groups(reason: str, names: Sequence[str] = GROUPS) -> tuple[dict[str, Any], Why]:
    """Fields of a stamp that are nothing for one reason, and that reason under the name of each."""
    return dict.fromkeys(names), dict.fromkeys(names, reason)


def stamp_of(
    item_id: str,
    arm: Literal["candidate", "control"],
    repeat: int,
    attempt: int,
    calls: Sequence[Call],
    *,
    started_at: datetime,
    evidence: Evidence,
    access_terms: AccessTerms | None = None,
) -> Stamp:
    """The stamp of an attempt. Without a call nothing is known of its session, and it says so."""
    why: Why = {}
    kept(why, "access_terms", access_terms, _NO_TERMS)
    trial: dict[str, Any] = {"item_id": item_id, "arm": arm, "repeat": repeat, "attempt": attempt}
    trial |= {"evidence": evidence, "started_at": started_at, "access_terms": access_terms}
    if not calls:
        empty, reasons = no_groups(NO_CALL, (*GROUPS, *_SINGLE))
        return Stamp(**trial, **empty, route_what=[], inconsistent=[], why=why | reasons)
    linked = chained(calls)
    asked = [c for c in linked if c.why.get("requested.model") != NO_MODEL] or linked
    answers = [c for c in asked if c.failure is None] or [c for c in asked if c.status is not None] or asked
    servers = distinct(c.server_id for c in answers)
    changed, what = _route(asked, servers or [], why)
    queue = max((c for c in asked if c.queue_ms is not None), key=lambda c: c.queue_ms or 0.0, default=None)
    if queue is None:
        why["queue_ms"] = why["queue_bound"] = asked[0].why.get("queue_ms", "no call has one")
    first = next((c for c in asked if c.conversation_empty is not None), None)
    return Stamp(
        **trial,
        requested=Requested(**_values(asked, "requested", why)),
        served=Served(**_values(asked, "served", why)),
        server_id=_server(servers, answers, why),
        timing=Timing(**_numbers(asked, "timing", max, why) | _numbers(asked, "timing", sum, why, _SUMMED)),
        queue_ms=queue.queue_ms if queue else None,
        queue_bound=queue.queue_bound if queue else None,
        retries=kept(why, "retries", retries(asked), "no counter, and no body to compare"),
        retry=Retry(**_retry(asked, why)),
        quota_state=_quota_state(asked, why),  # type: ignore[arg-type]
        quota=_quota(asked, why),
        route_changed=changed,
        route_what=what,
        status=_status(linked, why),
        usage=_usage(answers, why),
        conversation_empty=kept(
            why,
            "conversation_empty",
            first.conversation_empty if first else None,
            asked[0].why.get("conversation_empty", "no request shows it"),
        ),
        inconsistent=(distinct(line for c in linked for line in c.inconsistent) or [])[:20],
        why=why,
    )


_SUMMED = ("total_ms", "server_claimed_ms")


def _reason(calls: Sequence[Call], name: str) -> str:
    group = name.partition(".")[0]
    told = (c.why.get(name) or c.why.get(group) for c in calls)
    return next((reason for reason in told if reason), "no call says")


def _values(calls: Sequence[Call], group: str, why: Why) -> dict[str, list[str] | None]:
    """The distinct values of every field of a group, over all calls."""
    made = {}
    for name in fields(calls[0], group):
        value = distinct(v for c in calls for v in getattr(getattr(c, group), name) or [])
        made[name] = kept(why, f"{group}.{name}", value, _reason(calls, f"{group}.{name}"))
    return made


def _numbers(
    calls: Sequence[Call], group: str, how: Callable[[list[Any]], Any], why: Why, only: Sequence[str] = ()
) -> dict[str, Any]:
    made = {}
    for name in only or fields(calls[0], group):
        known = [v for c in calls if (v := getattr(getattr(c, group), name)) is not None]
        value = how(known) if known else None
        reason = _reason(calls, f"{group}.{name}") if value is None else _TOO_LARGE
        made[name] = kept(why, f"{group}.{name}", value if number(value, 1e12) is not None else None, reason)
    return made


def _retry(calls: Sequence[Call], why: Why) -> dict[str, Any]:
    """Counts summed over chains, of each its largest; waiting summed; the longest wait that was asked for."""
    made = _numbers(calls, "retry", sum, why, ("waited_ms",)) | _numbers(calls, "retry", max, why, ("retry_after_s",))
    for name in ("sdk_count", "repeated_body_count"):
        made[name] = kept(why, f"retry.{name}", counted(calls, name), _reason(calls, f"retry.{name}"))
    return made


def _server(servers: list[str] | None, answers: Sequence[Call], why: Why) -> str | None:
    if servers is not None and len(servers) > 1:
        why["server_id"] = f"{len(servers)} servers: {', '.join(servers)}"[:500]
        return None
    return kept(why, "server_id", servers[0] if servers else None, _reason(answers, "server_id"))  # type: ignore[no-any-return]


def _route(calls: Sequence[Call], servers: list[str], why: Why) -> tuple[bool | None, list[str]]:
    """Whether the route changed, and what did, in words; None where it isn't known what was asked for or served."""
    what = []
    for name in _ROUTE:
        values = distinct(v for c in calls for v in getattr(c.served, name) or []) or []
        if len(values) > 1:
            what.append(f"served {name.replace('_', ' ')}: {', '.join(values)}"[:500])
    if len(servers) > 1:
        what.append(f"server: {', '.join(servers)}"[:500])
    named = [(a, s) for c in calls for a in c.requested.model or [] for s in c.served.model or []]
    other = dict.fromkeys(f"asked for {a}, served {s}"[:500] for a, s in named if a != s)
    what = (what + list(other))[:50]
    if not what and not any(c.served.model for c in calls):
        why["route_changed"] = "no answer names the model that served it"
        return None, []
    told = (c.why.get("requested.model") for c in calls if c.failure is None and not c.requested.model)
    unread = next((reason for reason in told if reason not in (None, NO_MODEL, UNNAMED)), None)
    if unread is not None and not what:
        why["route_changed"] = f"what model was asked for isn't known: {unread}"[:500]
        return None, []
    return bool(what), what


def _quota_state(calls: Sequence[Call], why: Why) -> str | None:
    """The worst; unknown where an answer came whose limits can't be read."""
    unread = next((c for c in calls if c.failure is None and c.quota_state is None), None)
    known = [c.quota_state for c in calls if c.quota_state in _WORST]
    worst = max(known, key=lambda state: _WORST.index(str(state)), default=None)
    if unread is not None and worst not in _WORST[2:]:
        worst = None
    return kept(why, "quota_state", worst, _reason([unread] if unread else calls, "quota_state"))  # type: ignore[no-any-return]


def _quota(calls: Sequence[Call], why: Why) -> Quota:
    """Of each kind the smallest limit and remainder, the longest reset; the last call's token."""
    made: dict[str, Any] = {}
    for name, how in (("limits", min), ("remaining", min), ("resets_s", max)):
        kinds: dict[str, float] = {}
        for call in calls:
            for kind, value in (getattr(call.quota, name) or {}).items():
                kinds[kind] = how(kinds.get(kind, value), value)
        made[name] = kept(
            why, f"quota.{name}", dict(sorted(kinds.items())[:50]) or None, _reason(calls, f"quota.{name}")
        )
    token = next((c.quota.token for c in reversed(calls) if c.quota.token is not None), None)
    made["token"] = kept(why, "quota.token", token, _reason(calls, "quota.token"))
    return Quota(**made)


def _status(calls: Sequence[Call], why: Why) -> Status:
    failures = [c.failure for c in calls if c.failure is not None]
    last = calls[-1].status
    kept(why, "status.last", last, "no answer came")
    return Status(calls=len(calls), failed=len(failures), last=last, last_failure=failures[-1] if failures else None)


def _usage(calls: Sequence[Call], why: Why) -> Usage:
    """Sums over the calls that were answered; none where one of them doesn't say, for a part is no sum."""
    made: dict[str, Any] = {}
    for name in fields(calls[0], "usage"):
        known = [v for c in calls if (v := getattr(c.usage, name)) is not None]
        whole = known if len(known) == len(calls) else []
        reason = _reason(calls, f"usage.{name}")
        if known and not whole:
            reason = f"{len(calls) - len(known)} of {len(calls)} answers don't say; the others sum to {sum(known):g}"
        total = sum(whole) if whole else None
        fits = number(total, 1e12) is not None
        made[name] = kept(why, f"usage.{name}", total if fits else None, reason if total is None else _TOO_LARGE)
    return Usage(**made)
