"""Anthropic: messages. Its input tokens leave out what the cache held or took; here they are counted with it."""

from __future__ import annotations

import re

from stages.session.dialects.model import Chunk, Dialect, Shape, Sums, at, listed
from stages.session.dialects.openai import turns


def _content(chunk: Chunk) -> bool:
    kind = chunk.get("type")
    if kind == "content_block_delta":
        delta = chunk.get("delta")
        return isinstance(delta, dict) and any(delta.get(k) for k in ("text", "partial_json", "thinking", "citation"))
    if kind == "content_block_start":
        return at(chunk, "content_block.type") == "tool_use" or bool(at(chunk, "content_block.text"))
    return any(one.get("type") != "text" or one.get("text") for one in listed(chunk.get("content")))


def _both(name: str) -> tuple[str, str]:
    return (f"usage.{name}", f"message.usage.{name}")


def tokens() -> dict[str, Sums]:
    """Where usage stands: of a whole answer and a stream's end, else of a stream's start."""
    cache = ("cache_creation_input_tokens", "cache_read_input_tokens")
    return {
        "input_tokens": tuple(
            (here, *(here.replace("input_tokens", name) for name in cache)) for here in _both("input_tokens")
        ),
        "output_tokens": tuple((here,) for here in _both("output_tokens")),
        "cached_tokens": tuple((here,) for here in _both("cache_read_input_tokens")),
        "reasoning_tokens": (),
    }


MESSAGES = Shape(
    name="messages",
    content=_content,
    empty=turns,
    finished=lambda chunk: chunk.get("type") in ("message_stop", "error"),
    model=("model", "message.model"),
    id=("message.id", "id"),
    tier=("usage.service_tier", "message.usage.service_tier"),
    tokens=tokens(),
)

ANTHROPIC = Dialect(
    name="anthropic",
    hosts=("api.anthropic.com",),
    families=frozenset({"anthropic"}),
    closed=True,
    identity=("server", "via"),
    quota=(
        re.compile(
            r"anthropic-(?:ratelimit-)?(?P<kind>requests|tokens|input-tokens|output-tokens|priority-input-tokens"
            r"|priority-output-tokens|unified-[a-z0-9-]{1,30})-(?P<what>limit|remaining|reset)"
        ),
    ),
    claimed=(("x-envoy-upstream-service-time", 1.0),),
    error_paths=("error.type",),
    exhausted=frozenset({"billing_error"}),
    throttled=frozenset({"rate_limit_error"}),
)
