"""Amazon Bedrock, as far as its bodies are readable: converse, and invoke with the bodies of others."""

from __future__ import annotations

import re
from urllib.parse import unquote

from stages.session.dialects.anthropic import MESSAGES
from stages.session.dialects.model import Chunk, Dialect, Shape, at, listed
from stages.session.dialects.openai import CHAT, COMPLETION, turns

_HOST = re.compile(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]{1,40})\.amazonaws\.com(?:\.cn)?")
_PATH = re.compile(r"/model/([^/]{1,2000})/(converse|converse-stream|invoke|invoke-with-response-stream)")


def _content(chunk: Chunk) -> bool:
    blocks = at(chunk, "output.message.content")
    delta = at(chunk, "contentBlockDelta.delta")
    return (
        any(any(one.values()) for one in listed(blocks))
        or (isinstance(delta, dict) and any(delta.values()))
        or at(chunk, "contentBlockStart.start.toolUse") is not None
    )


def _sums(name: str, *more: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(f"{top}{each}" for each in (name, *more)) for top in ("usage.", "metadata.usage."))


CONVERSE = Shape(
    name="converse",
    content=_content,
    empty=turns,
    finished=lambda chunk: "messageStop" in chunk or "error" in chunk,
    model=("trace.promptRouter.invokedModelId", "metadata.trace.promptRouter.invokedModelId"),
    tier=("serviceTier.type", "metadata.serviceTier.type"),
    sent_model=(),
    sent_temperature=("inferenceConfig.temperature",),
    sent_seed=("additionalModelRequestFields.seed",),
    tokens={
        "input_tokens": _sums("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
        "output_tokens": _sums("outputTokens"),
        "cached_tokens": _sums("cacheReadInputTokens"),
    },
    total=("usage.totalTokens", "metadata.usage.totalTokens"),
)


def _shape(path: str, request: Chunk) -> Shape | None:
    found = _PATH.fullmatch(path)
    if found is None:
        return None
    if found[2].startswith("converse"):
        return CONVERSE
    if "anthropic_version" in request:
        return MESSAGES
    return CHAT if "messages" in request else COMPLETION


def _place(host: str, path: str) -> dict[str, str]:
    region, model = _HOST.fullmatch(host), _PATH.fullmatch(path)
    return ({"region": region[1]} if region else {}) | ({"model": unquote(model[1])} if model else {})


BEDROCK = Dialect(
    name="bedrock",
    hosts=("bedrock-runtime.*.amazonaws.com", "bedrock-runtime-fips.*.amazonaws.com"),
    shape=_shape,
    place=_place,
    quota=(),
    claimed=(("x-amzn-bedrock-invocation-latency", 1.0),),
    claimed_body=(("metrics.latencyMs", 1.0),),
    attempts=("amz-sdk-request", re.compile(r"(?:.*; *)?attempt=([0-9]{1,6})(?:;.*)?"), 1),
    tokens={
        "input_tokens": (("amazon-bedrock-invocationMetrics.inputTokenCount",),),
        "output_tokens": (("amazon-bedrock-invocationMetrics.outputTokenCount",),),
    },
    error_paths=("__type",),
    exhausted=frozenset({"servicequotaexceededexception"}),
    throttled=frozenset({"throttlingexception", "toomanyrequestsexception"}),
)
