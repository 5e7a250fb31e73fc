"""OpenAI: chat completions, the older completions, embeddings, and responses. Most other providers write the first."""

from __future__ import annotations

from stages.session.dialects.model import Chunk, Dialect, Shape, Sums, at, listed

PAST = frozenset({"assistant", "model", "tool", "function", "chatbot"})
"""Roles of turns that can't come first in a conversation, in any provider's spelling."""

_PAST_ITEMS = frozenset({"function_call", "function_call_output", "reasoning", "item_reference", "compaction"})
_SAID = ("content", "tool_calls", "function_call", "refusal", "reasoning", "reasoning_content", "audio", "thinking")


def no_turns(_: Chunk) -> bool | str:
    return "a request of this form holds no conversation"


def bare_prompt(_: Chunk) -> bool | str:
    return "a bare prompt shows no turns"


def turns(request: Chunk, name: str = "messages") -> bool | str:
    """Whether the listed messages hold no earlier answer; a text where there is no such list."""
    messages = request.get(name)
    if not isinstance(messages, list) or not messages:
        return f"the request has no list of {name}"
    roles = [one.get("role") for one in messages if isinstance(one, dict)]
    if len(roles) < len(messages):
        return f"{name} holds something else than turns"
    return not any(isinstance(role, str) and role.lower() in PAST for role in roles)


def _chat_empty(request: Chunk) -> bool | str:
    found = turns(request)
    return False if found is True and request.get("previous_response_id") is not None else found


def _choice_says(choice: Chunk) -> bool:
    return bool(choice.get("text")) or any(
        bool(part.get(name)) for key in ("delta", "message") for part in listed([choice.get(key)]) for name in _SAID
    )


def chat_content(chunk: Chunk) -> bool:
    return any(_choice_says(choice) for choice in listed(chunk.get("choices")))


def chat_finished(chunk: Chunk) -> bool:
    return any(choice.get("finish_reason") is not None for choice in listed(chunk.get("choices")))


CHAT_TOKENS: dict[str, Sums] = {
    "input_tokens": (("usage.prompt_tokens",), ("x_groq.usage.prompt_tokens",)),
    "output_tokens": (("usage.completion_tokens",), ("x_groq.usage.completion_tokens",)),
    "cached_tokens": (
        ("usage.prompt_tokens_details.cached_tokens",),
        ("usage.prompt_cache_hit_tokens",),
        ("usage.cached_tokens",),
    ),
    "reasoning_tokens": (("usage.completion_tokens_details.reasoning_tokens",), ("usage.reasoning_tokens",)),
}

CHAT = Shape(
    name="chat",
    content=chat_content,
    empty=_chat_empty,
    finished=chat_finished,
    tokens=CHAT_TOKENS,
    total=("usage.total_tokens",),
)
COMPLETION = Shape(
    name="completion",
    content=chat_content,
    empty=bare_prompt,
    finished=chat_finished,
    tokens=CHAT_TOKENS,
    total=("usage.total_tokens",),
)
EMBEDDING = Shape(
    name="embedding",
    content=lambda chunk: bool(chunk.get("data")),
    empty=no_turns,
    generates=False,
    tokens={"input_tokens": (("usage.prompt_tokens",),)},
)


def _responses_empty(request: Chunk) -> bool | str:
    if request.get("previous_response_id") is not None or request.get("conversation") is not None:
        return False
    given = request.get("input")
    if isinstance(given, str):
        return True
    if not isinstance(given, list) or not given:
        return "the request has no input"
    for item in given:
        if not isinstance(item, dict):
            return "input holds something else than items"
        role, kind = item.get("role"), item.get("type")
        if isinstance(role, str) and role.lower() in PAST:
            return False
        if isinstance(kind, str) and (kind in _PAST_ITEMS or kind.endswith(("_call", "_call_output"))):
            return False
    return True


def _responses_content(chunk: Chunk) -> bool:
    kind = chunk.get("type")
    if isinstance(kind, str) and kind.endswith(".delta"):
        return bool(chunk.get("delta"))
    output = chunk.get("output") or at(chunk, "response.output")
    return any(one.get("type") != "reasoning" or one.get("summary") for one in listed(output))


RESPONSES = Shape(
    name="responses",
    content=_responses_content,
    empty=_responses_empty,
    finished=lambda chunk: (
        chunk.get("type") in ("response.completed", "response.incomplete", "response.failed", "response.done", "error")
    ),
    model=("model", "response.model"),
    fingerprint=("system_fingerprint", "response.system_fingerprint"),
    tier=("service_tier", "response.service_tier"),
    id=("response.id", "id"),
    tokens={
        "input_tokens": (("response.usage.input_tokens",), ("usage.input_tokens",)),
        "output_tokens": (("response.usage.output_tokens",), ("usage.output_tokens",)),
        "cached_tokens": (
            ("response.usage.input_tokens_details.cached_tokens",),
            ("usage.input_tokens_details.cached_tokens",),
        ),
        "reasoning_tokens": (
            ("response.usage.output_tokens_details.reasoning_tokens",),
            ("usage.output_tokens_details.reasoning_tokens",),
        ),
    },
    total=("response.usage.total_tokens", "usage.total_tokens"),
)

OPENAI = Dialect(
    name="openai",
    hosts=("api.openai.com", "eu.api.openai.com", "us.api.openai.com"),
    families=frozenset({"openai"}),
    closed=True,
    identity=("server", "via", "openai-version"),
    model=("openai-model",),
    claimed=(("openai-processing-ms", 1.0), ("x-envoy-upstream-service-time", 1.0)),
)
