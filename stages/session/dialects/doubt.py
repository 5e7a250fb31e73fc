"""What an exchange says that can't all be true: another provider's marks, a foreign model, counts that clash."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stages.session.dialects.body import Body
from stages.session.dialects.known import marked, of_host
from stages.session.dialects.model import Dialect, Shape, first
from stages.session.dialects.values import count

_FAMILIES = {
    "openai": r"gpt-(?!oss)|chatgpt|o[134](-|$)|davinci|babbage",
    "anthropic": r"claude",
    "google": r"gemini|gemma",
    "cohere": r"command|c4ai|aya-",
    "deepseek": r"deepseek",
    "mistral": r"mistral|mixtral|codestral|devstral|ministral|magistral|pixtral",
    "xai": r"grok",
    "moonshot": r"kimi|moonshot",
    "zai": r"glm",
    "meta": r"llama|meta-llama",
    "alibaba": r"qwen|qwq",
}


def family_of(model: str) -> str | None:
    """The maker of a model by its name, whoever serves it; None for a name that tells none."""
    name = model.lower().removeprefix("ft:").rpartition("/")[2]
    return next((maker for maker, pattern in _FAMILIES.items() if re.match(pattern, name)), None)


def doubts(
    dialect: Dialect,
    host: str,
    declared: bool,
    shape: Shape | None,
    body: Body,
    models: Sequence[str],
    told: str | None,
    usage: dict[str, object],
    repeated: tuple[bool, bool],
) -> Iterator[str]:
    """One line for each contradiction. `models`: those of the body; `told`: the one of a header."""
    chunks = [chunk for _, chunk in body.chunks]
    own = of_host(host) is not None
    if dialect.closed and (own or declared):
        said = f"the host is {dialect.name}'s" if own else f"the arm declares {dialect.name}"
        for other in marked(chunks):
            if other.name != dialect.name:
                yield f"the body has marks of {other.name}, {said}"
    for model in models if own and dialect.families else ():
        maker = family_of(model)
        if maker is not None and maker not in dialect.families:
            yield f"served a model of {maker}, which {dialect.name} doesn't serve"
    if told is not None and models and told not in models:
        yield "header and body name different models"
    if repeated[0]:
        yield "a key stands twice in the request"
    if repeated[1]:
        yield "a key stands twice in the answer"
    if shape is None:
        return
    output, asked, cached = (usage[name] for name in ("output_tokens", "input_tokens", "cached_tokens"))
    if output == 0 and any(shape.content(chunk) for chunk in chunks):
        yield "usage says no output tokens, the body has content"
    if isinstance(asked, int) and isinstance(cached, int) and cached > asked:
        yield f"usage says {cached} cached tokens of {asked}"
    total = next((t for c in reversed(chunks) if (t := count(first(c, shape.total))) is not None), None)
    if isinstance(asked, int) and isinstance(output, int) and total is not None and total < asked + output:
        yield f"usage says {total} tokens in all, and {asked} + {output}"
