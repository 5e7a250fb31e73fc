"""Calls from recorded traffic: HAR files (1.2, as browsers and proxies write them) and cassettes of VCR.

The same dialects read them as read live traffic. What they yield is `exported`: another program wrote the log.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stages.contract.digest import file_sha256
from stages.contract.errors import InputError, one_line
from stages.contract.stamp import Call, Stamp
from stages.contract.text import kind, read_json
from stages.session.chain import chained
from stages.session.dialects import DIALECTS, read_call
from stages.session.exchange import Exchange, Headers
from stages.session.summary import stamp_of

_BEFORE_HEADERS = ("blocked", "dns", "connect", "send", "wait")  # `ssl` lies within `connect`


def calls_of(path: Path, exchanges: list[Exchange], provider: str | None = None) -> list[Call]:
    """The calls of a log, with their retries linked. Bodies are hashed by the file's own digest."""
    if provider is not None and provider not in DIALECTS:
        raise InputError("--provider", f"found {provider}", f"one of {', '.join(DIALECTS)}")
    secret = file_sha256(path).encode()
    return chained([read_call(e, n, provider=provider, secret=secret) for n, e in enumerate(exchanges, 1)])


def read_har(path: Path) -> list[Exchange]:
    """The exchanges of a HAR file, by their start. Raises InputError."""
    log = read_json(path).get("log")
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise InputError(path, "holds no log.entries", "a HAR file")
    found = [_exchange(f"{path}: entry {n}", entry) for n, entry in enumerate(entries, 1)]
    return sorted(found, key=lambda exchange: exchange.started_at)


def _part(where: str, value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    if not isinstance(found, dict):
        raise InputError(where, f"its {name} is {kind(found)}", "an object")
    return found


def _exchange(where: str, entry: Any) -> Exchange:
    request, response = _part(where, entry, "request"), _part(where, entry, "response")
    method, url, status = request.get("method"), request.get("url"), response.get("status")
    if not isinstance(method, str) or not isinstance(url, str):
        raise InputError(where, "its request has no method and url", "both, as text")
    if isinstance(status, bool) or not isinstance(status, int):
        raise InputError(where, f"its status is {kind(status)}", "a whole number")
    content = response.get("content")
    body, cut = _content(where, content if isinstance(content, dict) else {})
    posted = request.get("postData")
    asked, asked_cut = _content(where, posted if isinstance(posted, dict) else {})
    first, total = _times(entry)
    return Exchange(
        started_at=_started(where, entry.get("startedDateTime")),
        method=method.upper(),
        url=url,
        request_headers=_headers(request.get("headers")),
        request_body=asked,
        status=status or None,
        response_headers=_headers(response.get("headers")),
        pieces=[(None, body)],
        ended="complete" if status else "upstream_unreachable",
        evidence="exported",
        headers_ms=first if status else None,
        first_byte_ms=first if status else None,
        total_ms=total,
        cut=frozenset([*(["response"] if cut else []), *(["request"] if asked_cut else [])]),
    )


def _content(where: str, value: dict[str, Any]) -> tuple[bytes, bool]:
    """(the body, whether the log left it out)."""
    text, size = value.get("text"), value.get("size")
    if not isinstance(text, str):
        return b"", isinstance(size, int) and size > 0
    if value.get("encoding") != "base64":
        return text.encode("utf-8", "surrogatepass"), False
    try:
        return base64.b64decode(text, validate=True), False
    except (binascii.Error, ValueError):
        raise InputError(where, "its content is no base64", "base64, as its encoding says") from None


def _headers(value: Any) -> Headers:
    found = [h for h in value if isinstance(h, dict)] if isinstance(value, list) else []
    return [
        (h["name"], h["value"]) for h in found if isinstance(h.get("name"), str) and isinstance(h.get("value"), str)
    ]


def _started(where: str, value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise InputError(where, f"its startedDateTime is {kind(value)}", "a time in ISO 8601") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _times(entry: dict[str, Any]) -> tuple[float | None, float | None]:
    """(to the first byte, in all) [ms]; a part of -1 wasn't gone through."""
    timings = entry.get("timings")
    parts = [timings.get(name) for name in _BEFORE_HEADERS] if isinstance(timings, dict) else []
    known = [float(p) for p in parts if isinstance(p, int | float) and not isinstance(p, bool) and p >= 0]
    waited = isinstance(timings, dict) and isinstance(timings.get("wait"), int | float) and timings["wait"] >= 0
    total = entry.get("time")
    whole = isinstance(total, int | float) and not isinstance(total, bool) and total >= 0
    return sum(known) if waited else None, float(total) if whole else None  # type: ignore[arg-type]


def exported_stamp(calls: Sequence[Call], item_id: str, arm: str, repeat: int, attempt: int) -> Stamp:
    """The stamp of an attempt whose calls a log holds. Raises InputError for a name that no trial can have."""
    if arm not in ("candidate", "control"):
        raise InputError("--arm", f"found {arm}", "candidate or control")
    if not calls:
        raise InputError("stamps", "the log holds no call", "at least one", "a stamp of nothing would have no start")
    started = min(call.started_at for call in calls)
    try:
        return stamp_of(item_id, arm, repeat, attempt, calls, started_at=started, evidence="exported")  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InputError(
            key, f"found {one_line(first['input'], 80)}", first["msg"].removeprefix("Value error, ")
        ) from None


def call_lines(calls: Sequence[Call]) -> Iterator[str]:
    """A table of calls for people, one line each."""
    yield f"{'':>3} {'dialect':12} {'status':24} {'asked -> served':44} {'queue':>9} {'retries':>7} {'quota':13} tokens"
    for call in calls:
        asked, served = ("/".join(names or ["?"]) for names in (call.requested.model, call.served.model))
        how = f"{call.status or '-'} {call.failure or ''} {call.error_code or ''}".strip()
        queue = "?" if call.queue_ms is None else f"{call.queue_ms:.0f} ms"
        again = max((n for n in (call.retry.sdk_count, call.retry.repeated_body_count) if n is not None), default="?")
        used = "/".join("?" if n is None else str(n) for n in (call.usage.input_tokens, call.usage.output_tokens))
        line = f"{call.number:>3} {call.dialect:12} {how:24} {f'{asked} -> {served}':44} {queue:>9} {again:>7} "
        yield line + f"{call.quota_state or '?':13} {used}" + "".join(f"; inconsistent: {i}" for i in call.inconsistent)
