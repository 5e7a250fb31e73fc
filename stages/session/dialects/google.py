"""Google: generateContent at generativelanguage and Vertex; a day's quota is told from a minute's by its id."""

from __future__ import annotations

import re
from urllib.parse import unquote

from stages.session.dialects.anthropic import MESSAGES
from stages.session.dialects.model import Chunk, Dialect, Shape, at, listed, nothing
from stages.session.dialects.openai import turns

_MODEL = re.compile(r"/models/([^/:]{1,200})(?::[A-Za-z]+)?$")
_LOCATION = re.compile(r"/locations/([a-z0-9-]{1,40})/")
_ACTION = re.compile(r":(generateContent|streamGenerateContent|rawPredict|streamRawPredict)$")


def _content(chunk: Chunk) -> bool:
    parts = (part for one in listed(chunk.get("candidates")) for part in listed(at(one, "content.parts")))
    return any(any(value for name, value in part.items() if name != "thoughtSignature") for part in parts)


def _empty(request: Chunk) -> bool | str:
    return False if request.get("cachedContent") is not None else turns(request, "contents")


GENERATE = Shape(
    name="generate",
    content=_content,
    empty=_empty,
    finished=lambda chunk: (
        any(one.get("finishReason") is not None for one in listed(chunk.get("candidates")))
        or at(chunk, "promptFeedback.blockReason") is not None
    ),
    model=("modelVersion",),
    fingerprint=(),
    tier=("usageMetadata.trafficType",),
    id=(),  # without a prefix
    sent_model=(),
    sent_temperature=("generationConfig.temperature", "generation_config.temperature"),
    sent_seed=("generationConfig.seed", "generation_config.seed"),
    tokens={
        "input_tokens": (("usageMetadata.promptTokenCount", "usageMetadata.toolUsePromptTokenCount"),),
        "output_tokens": (
            ("usageMetadata.candidatesTokenCount", "usageMetadata.thoughtsTokenCount"),
            ("usageMetadata.thoughtsTokenCount",),
        ),
        "cached_tokens": (("usageMetadata.cachedContentTokenCount",),),
        "reasoning_tokens": (("usageMetadata.thoughtsTokenCount",),),
    },
    total=("usageMetadata.totalTokenCount",),
)


def _shape(path: str, _: Chunk) -> Shape | None:
    found = _ACTION.search(path)
    if found is None:
        return None
    return MESSAGES if "aw" in found[1] else GENERATE


def _place(_: str, path: str) -> dict[str, str]:
    model, location = _MODEL.search(path), _LOCATION.search(path)
    return ({"model": unquote(model[1])} if model else {}) | ({"region": location[1]} if location else {})


def _a_days(chunk: Chunk) -> bool:
    """Whether the violated quota is one of a day: by its id, which is a code."""
    broken = (v for detail in listed(at(chunk, "error.details")) for v in listed(detail.get("violations")))
    return any(isinstance(v.get("quotaId"), str) and "PerDay" in v["quotaId"] for v in broken)


def _marks(chunk: Chunk) -> bool:
    return "modelVersion" in chunk and "usageMetadata" in chunk


def _dialect(name: str, hosts: tuple[str, ...], families: frozenset[str]) -> Dialect:
    return Dialect(
        name=name,
        hosts=hosts,
        families=families,
        closed=bool(families),
        marks=_marks if families else nothing,  # Vertex writes the same
        shape=_shape,
        place=_place,
        identity=("server",),
        claimed=(("server-timing", 1.0),),
        error_paths=("error.status",),
        exhausts=_a_days,
        throttled=frozenset({"resource_exhausted"}),
    )


GOOGLE = _dialect("google", ("generativelanguage.googleapis.com",), frozenset({"google"}))
VERTEX = _dialect("vertex", ("aiplatform.googleapis.com", "*-aiplatform.googleapis.com"), frozenset())
