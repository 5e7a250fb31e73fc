"""Exchanges made by hand, for tests of what reads them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from stages.session.exchange import Exchange

NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)
HI = {"model": "m-1", "messages": [{"role": "user", "content": "hi"}]}
ANSWER = {
    "id": "chatcmpl-abcdefgh",
    "model": "m-1",
    "choices": [{"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}


def exchange(
    url: str = "https://api.example.com/v1/chat/completions",
    request: Any = HI,
    answer: Any = ANSWER,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Exchange:
    """A request and its answer; bodies are bytes, or anything that JSON can write."""
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    given = {
        "started_at": NOW,
        "method": "POST",
        "request_headers": [("Authorization", "Bearer sk-real-key-123456")],
        "status": 200,
        "pieces": [(30.0, body)] if body else [],
        "headers_ms": 20.0,
        "first_byte_ms": 25.0,
        "total_ms": 40.0,
    }
    return Exchange(
        url=url,
        request_body=request if isinstance(request, bytes) else json.dumps(request).encode(),
        response_headers=list({"content-type": "application/json", **(headers or {})}.items()),
        **{**given, **more},
    )


def sse(*events: Any, done: bool = True) -> bytes:
    """Server-sent events of these objects."""
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()
