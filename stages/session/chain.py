"""Retries: the same request again after it failed, linked over the calls of one attempt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from stages.contract.stamp import Call
from stages.session.dialects.values import number

_HIDDEN = frozenset({"error_in_200", "empty_200", "zero_tokens", "unreadable_200", "unfinished_stream", "no_answer"})
MOST_RETRIES = 10**6
_NO_BODY = "the request's body has no hash"
_Key = tuple[str, str, str, str | None]


def retryable(call: Call) -> bool:
    """Whether a client that asks the same again is retrying: after 408, 429, 5xx, a connection's end, a hidden failure.

    529 is one of 5xx.
    """
    if call.status is not None and (call.status in (408, 429) or call.status >= 500):
        return True
    return call.ended in ("client_gone", "upstream_reset", "upstream_timeout", "upstream_unreachable") or (
        call.failure in _HIDDEN
    )


def _ended(call: Call) -> datetime | None:
    total = call.timing.total_ms
    try:
        return None if total is None else call.started_at + timedelta(milliseconds=total)
    except OverflowError:  # a log may date its calls in the year 9999
        return None


def _goes_on(before: Call, call: Call) -> bool:
    """Whether `call` is the earlier one made again: by the SDK's counter, or the same body after a failure."""
    counts = (before.retry.sdk_count, call.retry.sdk_count)
    if None not in counts and counts[1] == (counts[0] or 0) + 1:
        return True
    ended = _ended(before)
    overlap = ended is not None and call.started_at < ended
    return call.body_hmac is not None and retryable(before) and not overlap


def chained(calls: Sequence[Call]) -> list[Call]:
    """The calls, in their order, with how often each body had failed before and how long its client waited [ms]."""
    last: dict[_Key, Call] = {}
    made = []
    for call in calls:
        key = (call.method, call.host, call.path, call.body_hmac)
        before = last.get(key)
        why = {k: v for k, v in call.why.items() if k not in ("retry.repeated_body_count", "retry.waited_ms")}
        repeated: int | None = 0
        waited: float | None = 0.0
        if before is not None and _goes_on(before, call):
            ended = _ended(before)
            repeated = (before.retry.repeated_body_count or 0) + 1
            waited = None if ended is None else number(max((call.started_at - ended).total_seconds() * 1000, 0.0), 1e12)
            if waited is None:
                why["retry.waited_ms"] = "the end of the call before isn't known"
        elif call.body_hmac is None:
            repeated = waited = None
            why |= dict.fromkeys(("retry.repeated_body_count", "retry.waited_ms"), _NO_BODY)
        retry = call.retry.model_copy(update={"repeated_body_count": repeated, "waited_ms": waited})
        last[key] = call.model_copy(update={"retry": retry, "why": why})
        made.append(last[key])
    return made


def chains(calls: Sequence[Call]) -> Iterator[list[Call]]:
    """Chained calls put together: each is a request and the retries of it."""
    open_: dict[_Key, list[Call]] = {}
    found: list[list[Call]] = []
    for call in calls:
        key = (call.method, call.host, call.path, call.body_hmac)
        if key in open_ and call.retry.repeated_body_count:
            open_[key].append(call)
        else:
            open_[key] = [call]
            found.append(open_[key])
    yield from found


def counted(calls: Sequence[Call], *names: str) -> int | None:
    """Over all chains the sum of the largest of these counts; None where a chain has none of them."""
    total = 0
    for chain in chains(calls):
        counts = [n for call in chain for name in names if (n := getattr(call.retry, name)) is not None]
        if not counts:
            return None
        total += max(counts)
    return total if total <= MOST_RETRIES else None


def retries(calls: Sequence[Call]) -> int | None:
    """Over all chains the sum of the SDK's count or what was seen, whichever is larger; None if unknown."""
    return counted(calls, "sdk_count", "repeated_body_count")
