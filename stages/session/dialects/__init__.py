"""What an exchange with a provider says: a pure function from request, status, headers and body to a call.

`known` finds the provider's dialect, `body` the JSON objects of the answer, `told` the fields; a provider's own
spellings stand in its module, as data. Nothing raises: what can't be read is null, with its reason.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from datetime import UTC
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from stages.contract.stamp import Call, Quota, Requested, Retry, Served, Timing, Usage
from stages.session.dialects.body import Body, read_body, read_request
from stages.session.dialects.doubt import doubts
from stages.session.dialects.failure import codes_of, failed_body, failure_of
from stages.session.dialects.headers import clock, every, one, plain_number, seconds
from stages.session.dialects.known import DIALECTS, dialect_of, shape_of
from stages.session.dialects.model import Chunk, Dialect, Shape
from stages.session.dialects.quota import quota_of, quota_state
from stages.session.dialects.told import claimed_ms, queue, requested, served, server_id, usage
from stages.session.dialects.values import MAX_TEXT, NO_MODEL, Why, kept, number, text
from stages.session.exchange import Exchange, Headers

__all__ = ["DIALECTS", "read_call"]

_KEYS = (
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
    "x-portkey-api-key",
)
_COUNT = re.compile(r"[0-9]{1,6}")
_NO_ROUTE = "(none)"


def read_call(exchange: Exchange, number: int, *, provider: str | None = None, secret: bytes | None = None) -> Call:
    """The call that an exchange was. `provider`: the arm's declared one; `secret`: what bodies are hashed by."""
    why: Why = {}
    doubt: list[str] = []
    url = _split(exchange.url)
    hidden = _secrets(exchange.request_headers, url)
    host = text(_host(url), hidden)
    path = url.path if len(url.path) <= 1000 and url.path.isprintable() and not _held(url.path, hidden) else ""
    request, unread, request_twice = read_request(
        every(exchange.request_headers, "content-encoding"), exchange.request_body, "request" in exchange.cut
    )
    body = read_body(exchange.response_headers, exchange.pieces, "response" in exchange.cut)
    chunks = [chunk for _, chunk in body.chunks]
    dialect = dialect_of(host or "", path, request, chunks, provider)
    shape = shape_of(dialect, exchange.method.upper(), path, request)
    place = dialect.place(host or "", path)

    status = exchange.status if exchange.status is not None and 100 <= exchange.status <= 599 else None
    asked = requested(shape, request, unread, place, host, hidden, why)
    who = served(dialect, shape, exchange, body, place, hidden, why)
    tokens = usage(dialect, shape, body, why)
    failure = failure_of(exchange, shape, body, tokens["output_tokens"])
    failed = failure is not None and (status is None or status >= 400 or any(map(failed_body, chunks)))
    codes = codes_of(dialect, exchange, body, failed, hidden)
    quota = quota_of(dialect, exchange.response_headers, clock(exchange.response_headers, _aware(exchange)), why)
    day = failed and any(dialect.exhausts(chunk) for chunk in chunks)
    state = quota_state(dialect, status, codes, failure, day, quota, why)
    claimed, before = claimed_ms(dialect, exchange, body)
    times = _times(exchange, body, shape, claimed, why)
    queue_ms, bound = queue(exchange, times, claimed, before, doubt, why)
    models = list(who["model"] or [])
    told = text(one(exchange.response_headers, *dialect.model), hidden) if dialect.model else None
    twice = (request_twice, body.twice)
    doubt += doubts(dialect, host or "", provider is not None, shape, body, models, told, tokens, twice)
    return Call(
        number=number,
        evidence=exchange.evidence,
        started_at=_aware(exchange),
        dialect=dialect.name,
        method=text(exchange.method[:20]) or _NO_ROUTE,
        host=host or _NO_ROUTE,
        path=path,
        status=kept(why, "status", status, "no answer came"),
        ended=exchange.ended,
        failure=failure,
        error_code=codes[0] if codes else None,
        requested=Requested(**asked),
        served=Served(**who),
        server_id=server_id(dialect, exchange, host, who, why),
        timing=Timing(**times),
        queue_ms=queue_ms,
        queue_bound=bound,  # type: ignore[arg-type]
        retry=Retry(**_retry(dialect, exchange, why)),
        quota_state=state,  # type: ignore[arg-type]
        quota=Quota(**quota),  # type: ignore[arg-type]
        usage=Usage(**tokens),
        conversation_empty=_empty(shape, request, unread, why),
        body_hmac=_hmac(exchange, secret, why),
        request_bytes=_size(exchange, "request", why),
        response_bytes=_size(exchange, "response", why),
        inconsistent=list(dict.fromkeys(line[:MAX_TEXT] for line in doubt))[:20],
        why=why,
    )


def _split(url: str) -> SplitResult:
    try:
        found = urlsplit(url)
        _ = found.hostname, found.port
    except ValueError:
        return urlsplit("")
    return found


def _host(url: SplitResult) -> str:
    usual = {"https": 443, "http": 80}.get(url.scheme)
    port = f":{url.port}" if url.port is not None and url.port != usual else ""
    return f"{url.hostname or ''}{port}"


def _secrets(headers: Headers, url: SplitResult) -> list[str]:
    """Texts that may stand in no field: what the request proved itself by."""
    values = [part for name in _KEYS for value in every(headers, name) for part in re.split(r"[\s;,=]+", value)]
    try:
        values += [value for _, value in parse_qsl(url.query, max_num_fields=1000)]
    except ValueError:
        values.append(url.query)
    return [value for value in values if len(value) >= 8] + [url.password or "\0", url.username or "\0"]


def _held(value: str, hidden: list[str]) -> bool:
    return any(secret in value for secret in hidden)


def _aware(exchange: Exchange) -> Any:
    at = exchange.started_at
    return at if at.tzinfo is not None and at.utcoffset() is not None else at.replace(tzinfo=UTC)


def _times(
    exchange: Exchange, body: Body, shape: Shape | None, claimed: float | None, why: Why
) -> dict[str, float | None]:
    token = next((at for at, chunk in body.chunks if shape is not None and shape.content(chunk)), None)
    values = {
        "headers_ms": exchange.headers_ms,
        "first_byte_ms": exchange.first_byte_ms,
        "first_token_ms": token,
        "total_ms": exchange.total_ms,
        "server_claimed_ms": claimed,
    }
    none = "it didn't come" if exchange.evidence == "recorded" else "the log has no times"
    reasons = {"server_claimed_ms": "the server doesn't say", "first_token_ms": body.why or none}
    return {
        name: kept(why, f"timing.{name}", number(value, 1e12), reasons.get(name, none))
        for name, value in values.items()
    }


def _retry(dialect: Dialect, exchange: Exchange, why: Why) -> dict[str, Any]:
    counts = [int(v) for v in every(exchange.request_headers, "x-stainless-retry-count") if _COUNT.fullmatch(v)]
    if dialect.attempts is not None:
        name, pattern, base = dialect.attempts
        found = (pattern.fullmatch(value[:200]) for value in every(exchange.request_headers, name))
        counts += [max(int(match[1]) - base, 0) for match in found if match]
    now = clock(exchange.response_headers, _aware(exchange))
    in_ms = plain_number(one(exchange.response_headers, "retry-after-ms"))
    after = one(exchange.response_headers, "retry-after")
    wait = in_ms / 1000 if in_ms is not None else seconds(after, now) if after is not None else None
    before = "the calls before haven't been looked at"
    return {
        "sdk_count": kept(why, "retry.sdk_count", max(counts, default=None), "the request has no counter"),
        "repeated_body_count": kept(why, "retry.repeated_body_count", None, before),
        "waited_ms": kept(why, "retry.waited_ms", None, before),
        "retry_after_s": kept(why, "retry.retry_after_s", number(wait), "the answer doesn't say"),
    }


def _empty(shape: Shape | None, request: Chunk, unread: str | None, why: Why) -> bool | None:
    found = NO_MODEL if shape is None else unread or shape.empty(request)
    if isinstance(found, str):
        why["conversation_empty"] = found
        return None
    return found


def _hmac(exchange: Exchange, secret: bytes | None, why: Why) -> str | None:
    if secret is None or "request" in exchange.cut:
        why["body_hmac"] = "no key to hash it by" if secret is None else "the body was longer than what is kept of it"
        return None
    return hmac.new(secret, exchange.request_body, hashlib.sha256).hexdigest()


def _size(exchange: Exchange, side: str, why: Why) -> int | None:
    value: int | None = getattr(exchange, f"{side}_bytes")
    if value is None and side not in exchange.cut:
        pieces = [exchange.request_body] if side == "request" else [piece for _, piece in exchange.pieces]
        value = sum(len(piece) for piece in pieces)
    value = value if value is not None and 0 <= value <= 10**12 else None
    return kept(why, f"{side}_bytes", value, "it wasn't counted")  # type: ignore[no-any-return]
