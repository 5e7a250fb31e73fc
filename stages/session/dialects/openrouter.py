"""OpenRouter: chat, responses and messages of many providers; its bodies name the provider, and what it cost."""

from __future__ import annotations

import re

from stages.session.dialects.model import Chunk, Dialect, at, listed

_ID = re.compile(r"gen-\d{10}-[A-Za-z0-9]+")


def _marks(chunk: Chunk) -> bool:
    made = chunk.get("id") or at(chunk, "response.id")
    return (isinstance(made, str) and _ID.fullmatch(made) is not None) or any(
        "native_finish_reason" in choice for choice in listed(chunk.get("choices"))
    )


def upstream_cost(usage: Chunk) -> object:
    """What was paid beside OpenRouter's own charge: its upstream's, where the key is one's own there."""
    return at(usage, "cost_details.upstream_inference_cost") if usage.get("is_byok") is True else None


OPENROUTER = Dialect(
    name="openrouter",
    hosts=("openrouter.ai",),
    marks=_marks,
    identity=("server",),
    provider=("x-provider-name",),
    provider_paths=("provider", "response.provider", "error.metadata.provider_name"),
    tokens={"cost_usd": (("usage.cost",), ("response.usage.cost",))},
)
