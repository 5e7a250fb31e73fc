"""Ollama: its own chat and generate, one JSON object per line; times in nanoseconds."""

from __future__ import annotations

from stages.session.dialects.model import Chunk, Dialect, Shape, at
from stages.session.dialects.openai import turns


def _content(chunk: Chunk) -> bool:
    said = ("message.content", "message.tool_calls", "message.thinking", "response", "thinking")
    return any(bool(at(chunk, path)) for path in said)


def _empty(request: Chunk) -> bool | str:
    if "messages" in request:
        return turns(request)
    return not request.get("context") if isinstance(request.get("prompt"), str) else "the request has no messages"


OLLAMA_CHAT = Shape(
    name="ollama",
    content=_content,
    empty=_empty,
    finished=lambda chunk: chunk.get("done") is True,
    id=(),
    sent_temperature=("options.temperature",),
    sent_seed=("options.seed",),
    tokens={"input_tokens": (("prompt_eval_count",),), "output_tokens": (("eval_count",),)},
)


def _shape(path: str, _: Chunk) -> Shape | None:
    return OLLAMA_CHAT if path.endswith(("/api/chat", "/api/generate")) else None


OLLAMA = Dialect(
    name="ollama",
    shape=_shape,
    identity=("server",),
    quota=(),
    claimed_body=(("total_duration", 1e-6),),
)
