"""Cohere: its own chat, second version and first; its answers name no model."""

from __future__ import annotations

import re

from stages.session.dialects.model import Chunk, Dialect, Shape, at
from stages.session.dialects.openai import no_turns, turns


def _content(chunk: Chunk) -> bool:
    kind = chunk.get("type")
    if isinstance(kind, str):
        held = at(chunk, "delta.message")
        return kind in ("content-delta", "tool-call-start", "tool-plan-delta") and isinstance(held, dict) and bool(held)
    message = chunk.get("message")
    if isinstance(message, dict):
        return any(message.get(name) for name in ("content", "tool_calls", "tool_plan"))
    return bool(chunk.get("text")) or bool(chunk.get("tool_calls"))


def _empty(request: Chunk) -> bool | str:
    if "messages" in request:
        return turns(request)
    if not isinstance(request.get("message"), str):
        return "the request has no list of messages"
    return not request.get("chat_history") and request.get("conversation_id") is None


def _sums(name: str) -> tuple[tuple[str, ...], ...]:
    return tuple((f"{top}tokens.{name}",) for top in ("usage.", "delta.usage.", "meta.", "response.meta."))


COHERE_CHAT = Shape(
    name="cohere-chat",
    content=_content,
    empty=_empty,
    finished=lambda chunk: chunk.get("type") == "message-end" or chunk.get("event_type") == "stream-end",
    id=("id", "response_id", "generation_id"),
    tokens={"input_tokens": _sums("input_tokens"), "output_tokens": _sums("output_tokens")},
)
RANKING = Shape(
    name="ranking", content=lambda chunk: bool(chunk.get("results")), empty=no_turns, generates=False, tokens={}
)


def _shape(path: str, _: Chunk) -> Shape | None:
    if re.fullmatch(r"/v[12]/chat", path):
        return COHERE_CHAT
    return RANKING if path.endswith("/rerank") else None


COHERE = Dialect(
    name="cohere",
    hosts=("api.cohere.com", "api.cohere.ai"),
    families=frozenset({"cohere"}),
    closed=True,
    shape=_shape,
    identity=("server", "via"),
    quota=(
        re.compile(r"x-(?P<kind>trial-endpoint-call|endpoint-monthly-call)-(?P<what>limit|remaining)"),
        re.compile(r"x-ratelimit-(?P<what>limit|remaining|reset)"),
    ),
    claimed=(("x-envoy-upstream-service-time", 1.0),),
)
