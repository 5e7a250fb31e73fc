"""Providers that write OpenAI's forms with a few spellings of their own; `compatible` is any other one."""

from __future__ import annotations

import re

from stages.session.dialects.model import CHAT_QUOTA, PLAIN_QUOTA, Chunk, Dialect, Shape
from stages.session.dialects.openai import CHAT, no_turns

PREDICTION = Shape(
    name="prediction",
    content=lambda chunk: chunk.get("output") is not None,
    empty=no_turns,
    generates=False,
    fingerprint=("version",),
    id=(),
    sent_model=("model", "version"),
    sent_temperature=("input.temperature",),
    sent_seed=("input.seed",),
)


def _replicate_shape(path: str, _: Chunk) -> Shape | None:
    return PREDICTION if re.search(r"/predictions(/[a-z0-9]+)?$", path) else None


def _writer_shape(path: str, _: Chunk) -> Shape | None:
    return CHAT if path.endswith("/chat") else None


def _router_place(_: str, path: str) -> dict[str, str]:
    """The HuggingFace router's path starts with the provider's name, unless it may choose itself."""
    found = re.match(r"/([a-z0-9-]{1,40})/(?:v1|openai)/", path)
    return {"provider": found[1]} if found else {}


TOGETHER = Dialect(
    name="together",
    hosts=("api.together.xyz", "api.together.ai"),
    identity=("server", "x-inference-version"),
    claimed=(("x-inference-time", 1.0), ("x-total-time", 1.0)),
)
CEREBRAS = Dialect(
    name="cerebras",
    hosts=("api.cerebras.ai",),
    closed=True,
    marks=lambda chunk: "time_info" in chunk,
    identity=("server",),
    claimed_body=(("time_info.total_time", 1000.0),),
)
CRUSOE = Dialect(name="crusoe", hosts=("api.inference.crusoecloud.com",), identity=("server",))
HUGGINGFACE = Dialect(
    name="huggingface",
    hosts=("router.huggingface.co",),
    place=_router_place,
    identity=("server", "via"),
    provider=("x-inference-provider",),
)
WRITER = Dialect(name="writer", hosts=("api.writer.com",), shape=_writer_shape, identity=("server",))
ZAI = Dialect(
    name="zai",
    hosts=("api.z.ai", "open.bigmodel.cn"),
    families=frozenset({"zai"}),
    closed=True,
    identity=("server",),
    exhausted=frozenset({"1113", "1308"}),
    throttled=frozenset({"1302", "1303", "1305"}),
)
PORTKEY = Dialect(name="portkey", hosts=("api.portkey.ai",), identity=("server",), provider=("x-portkey-provider",))
REPLICATE = Dialect(
    name="replicate",
    hosts=("api.replicate.com",),
    shape=_replicate_shape,
    identity=("server",),
    quota=(PLAIN_QUOTA,),
)
COMPATIBLE = Dialect(
    name="compatible",
    identity=("server", "via"),
    quota=(CHAT_QUOTA, PLAIN_QUOTA),
    tokens={"cost_usd": (("usage.cost",),)},
)

ALL = (TOGETHER, CEREBRAS, CRUSOE, HUGGINGFACE, WRITER, ZAI, PORTKEY, REPLICATE, COMPATIBLE)
