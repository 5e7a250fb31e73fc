"""Quota as headers, status and codes tell it; never as words do."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from stages.contract.digest import sha256
from stages.session.dialects.headers import plain_number, seconds
from stages.session.dialects.model import Dialect
from stages.session.dialects.values import Why, kept
from stages.session.exchange import Headers

_EXHAUSTED = frozenset(
    {
        "insufficient_quota",
        "insufficient_balance",
        "insufficient_credits",
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",
        "quota_exhausted",
    }
)
_THROTTLED = frozenset(
    {"rate_limit_exceeded", "rate_limit_error", "rate_limited", "too_many_requests", "429", "throttlingexception"}
)
_NONE = "no header tells it"
_MAX_KINDS = 50
_GROUP = {"limit": "limits", "remaining": "remaining", "reset": "resets_s"}


def quota_of(dialect: Dialect, headers: Headers, now: datetime, why: Why) -> dict[str, object]:
    """Fields of the quota: limits, remaining, resets [s], and a digest of the headers that told them.

    A negative number says that the provider doesn't tell: none of that group is kept.
    """
    groups: dict[str, dict[str, float]] = {"limits": {}, "remaining": {}, "resets_s": {}}
    wrong: dict[str, str] = {}
    lines: list[str] = []
    for name, value in sorted({(key.lower(), text.strip()) for key, text in headers}):
        for pattern in dialect.quota:
            match = pattern.fullmatch(name)
            if match is None:
                continue
            parts = match.groupdict()
            group = _GROUP[parts["what"]]
            kind = "_".join(p for p in (parts.get("kind") or "requests", parts.get("window")) if p).replace("-", "_")
            lines.append(f"{name}:{value}")
            found = seconds(value, now, dialect.reset_s) if group == "resets_s" else plain_number(value)
            if found is None or not 0 <= found <= 1e15:
                wrong[group] = f"{name} is {'negative' if (found or 0) < 0 else 'no number that is read'}"
            elif kind in groups[group] and groups[group][kind] != found:
                wrong[group] = f"{name} says two different things"
            elif len(groups[group]) < _MAX_KINDS:
                groups[group][kind] = found
            break
    made: dict[str, object] = {}
    for group, values in groups.items():
        value_or_none = None if group in wrong else values or None
        made[group] = kept(why, f"quota.{group}", value_or_none, wrong.get(group, _NONE))
    made["token"] = kept(
        why, "quota.token", sha256("\n".join(lines).encode("utf-8", "replace"))[:16] if lines else None, _NONE
    )
    return made


def quota_state(
    dialect: Dialect,
    status: int | None,
    codes: Iterable[str],
    failure: str | None,
    day: bool,
    quota: dict[str, object],
    why: Why,
) -> str | None:
    """`exhausted` or `throttled`; else `within_budget` where a header says that nothing is left, or `ok`."""
    found = {one.lower() for one in codes}
    if status == 402 or found & (_EXHAUSTED | dialect.exhausted) or day:
        return "exhausted"
    if status == 429 or found & (_THROTTLED | dialect.throttled):
        return "throttled"
    negative = [why[name] for name in ("quota.limits", "quota.remaining") if "negative" in why.get(name, "")]
    if negative:
        why["quota_state"] = negative[0][:200]
        return None
    if failure is not None and (status is None or status >= 400 or failure == "error_in_200"):
        why["quota_state"] = "the call failed for another reason"
        return None
    remaining = quota["remaining"]
    return "within_budget" if isinstance(remaining, dict) and 0.0 in remaining.values() else "ok"
