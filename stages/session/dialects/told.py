"""Fields of a call group by group: what was asked, who served, tokens, times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stages.contract.digest import sha256
from stages.session.dialects.body import Body
from stages.session.dialects.headers import every, one, plain_number
from stages.session.dialects.model import Chunk, Dialect, Shape, Sums, at, first
from stages.session.dialects.openrouter import upstream_cost
from stages.session.dialects.values import NO_MODEL, UNNAMED, Why, count, distinct, kept, number, sent, text
from stages.session.exchange import Exchange

_PREFIX = re.compile(r"([a-z]{2,12})[-_][A-Za-z0-9_-]{6,}")
_HEX = re.compile(r"[0-9a-f-]+")
_DURATION = re.compile(r"(?:.*;)? *dur=(\d{1,12}(?:\.\d{1,9})?)(?:[;,].*)?")
_SLACK_MS = 50.0


def requested(
    shape: Shape | None,
    request: Chunk,
    unread: str | None,
    url: dict[str, str],
    host: str | None,
    hidden: Sequence[str],
    why: Why,
) -> dict[str, Any]:
    """What a request asks for, as sent; `hidden` where it says nothing of temperature or seed."""
    none = NO_MODEL if shape is None else unread
    model = (
        url.get("model") if shape is None or not first(request, shape.sent_model) else first(request, shape.sent_model)
    )
    model = text(model or url.get("deployment"), hidden)
    made: dict[str, Any] = {
        "model": kept(why, "requested.model", [model] if model else None, none or UNNAMED),
        "host": kept(why, "requested.host", [host] if host else None, "the URL has no host"),
    }
    for name in ("temperature", "seed"):
        value = None if shape is None or none else first(request, getattr(shape, f"sent_{name}"))
        written = None if none else "hidden" if value is None else sent(value)
        made[name] = kept(
            why, f"requested.{name}", [written] if written else None, none or "what was sent is no number"
        )
    return made


def served(
    dialect: Dialect,
    shape: Shape | None,
    exchange: Exchange,
    body: Body,
    url: dict[str, str],
    hidden: Sequence[str],
    why: Why,
) -> dict[str, Any]:
    """Who served, as the answer says; the values of a stream's events are all kept, but of the tier the last."""
    headers, chunks = exchange.response_headers, [chunk for _, chunk in body.chunks]

    def inside(paths: tuple[str, ...]) -> list[str | None]:
        return [text(first(chunk, paths), hidden) for chunk in chunks]

    def header(names: tuple[str, ...]) -> str | None:
        return text(one(headers, *names), hidden) if names else None

    answered = shape is not None
    models = inside(shape.model) if shape is not None else []
    tiers = inside(shape.tier) if shape is not None else []
    ids = inside(shape.id) if shape is not None else []
    values: dict[str, list[str] | None] = {
        "model": distinct(models) or distinct([header(dialect.model)]),
        "provider": distinct(inside(dialect.provider_paths) if answered else [])
        or distinct([header(dialect.provider) or text(url.get("provider"), hidden)]),
        "region": distinct([header(dialect.region) or text(url.get("region"), hidden)]),
        "deployment": distinct([header(dialect.deployment) or text(url.get("deployment"), hidden)]),
        "system_fingerprint": distinct(inside(shape.fingerprint)) if shape is not None else None,
        "service_tier": distinct([t for t in tiers if t is not None][-1:]),
        "response_id_prefix": distinct(map(prefix, ids)),
    }
    reason = NO_MODEL if shape is None else body.why or "the answer doesn't say"
    return {name: kept(why, f"served.{name}", value, reason) for name, value in values.items()}


def prefix(made: str | None) -> str | None:
    """`chatcmpl` of `chatcmpl-9fK…`; None of an id that is only a number."""
    found = _PREFIX.fullmatch(made) if made is not None and not _HEX.fullmatch(made) else None
    return found[1] if found else None


def server_id(dialect: Dialect, exchange: Exchange, host: str | None, who: dict[str, Any], why: Why) -> str | None:
    """`dialect:host:digest`, the same from call to call while the same server answers the same way.

    The digest is of the headers that identify a server, and of provider, region and deployment. Ids of requests, edges
    and caches aren't among them: they change with every call.
    """
    if host is None or exchange.status is None:
        return kept(why, "server_id", None, "no answer came")  # type: ignore[no-any-return]
    lines = [f"{name}:{', '.join(every(exchange.response_headers, name))}" for name in sorted(dialect.identity)]
    lines += [f"{name}={'|'.join(who[name] or [])}" for name in ("provider", "region", "deployment")]
    made = f"{dialect.name}:{host}:{sha256(chr(10).join(lines).encode('utf-8', 'replace'))[:12]}"
    return made


def usage(dialect: Dialect, shape: Shape | None, body: Body, why: Why) -> dict[str, Any]:
    """Tokens and cost [USD]; input counts what a cache held, output what was reasoning. Of a stream the last word."""
    made: dict[str, Any] = {}
    chunks = [chunk for _, chunk in body.chunks]
    for name in ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost_usd"):
        ways = (*(shape.tokens.get(name, ()) if shape else ()), *(dialect.tokens.get(name, ()) if shape else ()))
        total = _sum(chunks, ways)
        value = number(total) if name == "cost_usd" else count(total)
        reason = NO_MODEL if shape is None else body.why or "the answer doesn't say"
        made[name] = kept(why, f"usage.{name}", value, reason)
    if made["cost_usd"] is not None and dialect.name == "openrouter":
        found = [
            number(upstream_cost(u))
            for c in chunks
            for u in (at(c, "usage"), at(c, "response.usage"))
            if isinstance(u, dict)
        ]
        whole = number(made["cost_usd"] + next((f for f in reversed(found) if f is not None), 0.0))
        made["cost_usd"] = kept(why, "usage.cost_usd", whole, "the cost is larger than any that can be")
    return made


def _sum(chunks: Sequence[Chunk], ways: Sums) -> float | int | None:
    for main, *more in ways:
        values = [_last(chunks, path) for path in (main, *more)]
        if values[0] is not None:
            return sum(v for v in values if v is not None)
    return None


def _last(chunks: Sequence[Chunk], path: str) -> float | int | None:
    for chunk in reversed(chunks):
        value = at(chunk, path)
        if number(value) is not None:
            return value  # type: ignore[no-any-return]
    return None


def claimed_ms(dialect: Dialect, exchange: Exchange, body: Body) -> tuple[float | None, bool]:
    """(the server's own processing time [ms], whether it lay before the headers)."""
    for name, unit in dialect.claimed:
        value = one(exchange.response_headers, name)
        found = plain_number(value)
        if found is None and value is not None and (match := _DURATION.fullmatch(value[:200])):
            found = float(match[1])
        if found is not None and 0 <= found * unit <= 1e12:
            return found * unit, True
    for path, unit in dialect.claimed_body:
        told = _last([chunk for _, chunk in body.chunks], path)
        if told is not None and told * unit <= 1e12:
            return round(told * unit, 6), not body.streamed
    return None, False


def queue(
    exchange: Exchange, times: dict[str, float | None], claimed: float | None, before: bool, doubt: list[str], why: Why
) -> tuple[float | None, str | None]:
    """(upper bound of the time spent waiting [ms], what bounds it): headers less processing, else the first byte."""
    headers, byte = times["headers_ms"], times["first_byte_ms"]
    if headers is not None and claimed is not None and before:
        if claimed <= headers + _SLACK_MS:
            return round(max(headers - claimed, 0.0), 6), "headers"
        doubt.append(f"the server claims {claimed:g} ms before its headers, which came after {headers:g} ms")
    whole = byte if byte is not None else headers
    if whole is None:
        reason = "no byte of an answer came" if exchange.evidence == "recorded" else "the log has no times"
        why["queue_ms"] = why["queue_bound"] = reason
        return None, None
    return whole, "first_byte"
