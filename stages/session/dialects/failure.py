"""How a call failed, if it did; a failure under status 200 is one too. Codes are told, never the words beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stages.session.dialects.body import Body
from stages.session.dialects.headers import one
from stages.session.dialects.model import Chunk, Dialect, Shape, at, listed
from stages.session.dialects.values import code
from stages.session.exchange import Exchange

_CODES = ("error.code", "error.type", "error.status", "code", "type", "__type", "error")
_FAILED = frozenset({"response.failed", "error"})


def failed_body(chunk: Chunk) -> bool:
    """Whether a body, or an event of a stream, is an error whatever its status says."""
    if chunk.get("error") not in (None, False, "", {}, []):
        return True
    if chunk.get("object") == "error" or chunk.get("success") is False:
        return True
    kind = chunk.get("type")
    if (isinstance(kind, str) and kind in _FAILED) or at(chunk, "response.error") is not None:
        return True
    choices = listed(chunk.get("choices"))
    return any(one.get("error") is not None or one.get("finish_reason") == "error" for one in choices)


def codes_of(dialect: Dialect, exchange: Exchange, body: Body, failed: bool, hidden: Sequence[str]) -> list[str]:
    """Every code that an error tells of itself, the most telling first."""
    if not failed:
        return []
    found = list(_told(dialect, [chunk for _, chunk in body.chunks], hidden))
    header = one(exchange.response_headers, "x-amzn-errortype")
    if header is not None:
        found.append(code(header.partition(":")[0], hidden))
    return list(dict.fromkeys(each for each in found if each is not None))


def _told(dialect: Dialect, chunks: Sequence[Chunk], hidden: Sequence[str]) -> Iterator[str | None]:
    whole = len(chunks) == 1
    for chunk in chunks:
        if not (whole or failed_body(chunk)):
            continue
        inner = chunk.get("response")
        for part in (chunk, inner if isinstance(inner, dict) else {}):
            for path in (*dialect.error_paths, *_CODES):
                if not (path == "type" and part.get("type") == "error"):
                    told = at(part, path)
                    yield code(told.rpartition("#")[2] if isinstance(told, str) else told, hidden)
        for choice in listed(chunk.get("choices")):
            yield code(at(choice, "error.code"), hidden)


def failure_of(exchange: Exchange, shape: Shape | None, body: Body, output_tokens: int | None) -> str | None:
    """A short code of how the call failed: how it ended, its status, or what an answer of status 200 hides."""
    if exchange.status is None or not 100 <= exchange.status <= 599:
        return exchange.ended if exchange.ended != "complete" else "no_answer"
    if exchange.status >= 300:
        return f"http_{exchange.status}"
    if exchange.ended != "complete":
        return exchange.ended
    chunks = [chunk for _, chunk in body.chunks]
    if any(failed_body(chunk) for chunk in chunks):
        return "error_in_200"
    if shape is None or "response" in exchange.cut:
        return None
    if body.size == 0:
        return "empty_200"
    if body.why is not None:
        return "unreadable_200"
    if not shape.generates:
        return None
    if output_tokens == 0:
        return "zero_tokens"
    if output_tokens is None and not any(shape.content(chunk) for chunk in chunks):
        return "empty_200"
    if body.streamed and shape.finished is not None and not body.ended and not any(map(shape.finished, chunks)):
        return "unfinished_stream"
    return None
