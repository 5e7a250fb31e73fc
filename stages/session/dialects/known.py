"""Which dialect an exchange speaks, and which form of answer it asks for."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from stages.session.dialects.anthropic import ANTHROPIC, MESSAGES
from stages.session.dialects.azure import AZURE
from stages.session.dialects.bedrock import BEDROCK
from stages.session.dialects.cohere import COHERE
from stages.session.dialects.compatible import ALL as COMPATIBLES
from stages.session.dialects.compatible import COMPATIBLE
from stages.session.dialects.deepseek import DEEPSEEK
from stages.session.dialects.google import GOOGLE, VERTEX
from stages.session.dialects.groq import GROQ
from stages.session.dialects.mistral import MISTRAL
from stages.session.dialects.model import Chunk, Dialect, Shape
from stages.session.dialects.ollama import OLLAMA
from stages.session.dialects.openai import CHAT, COMPLETION, EMBEDDING, OPENAI, RESPONSES
from stages.session.dialects.openrouter import OPENROUTER
from stages.session.dialects.vllm import VLLM

DIALECTS: dict[str, Dialect] = {
    one.name: one
    for one in (
        OPENAI,
        ANTHROPIC,
        OPENROUTER,
        AZURE,
        BEDROCK,
        GOOGLE,
        VERTEX,
        GROQ,
        MISTRAL,
        COHERE,
        DEEPSEEK,
        VLLM,
        OLLAMA,
        *COMPATIBLES,
    )
}
_USUAL = (
    ("/chat/completions", CHAT),
    ("/completions", COMPLETION),
    ("/embeddings", EMBEDDING),
    ("/responses", RESPONSES),
    ("/messages", MESSAGES),
)


def of_host(host: str) -> Dialect | None:
    """The dialect to which a host belongs."""
    name = host.partition(":")[0]
    for dialect in DIALECTS.values():
        if any(fnmatchcase(name, pattern) for pattern in dialect.hosts):
            return dialect
    return None


def shape_of(dialect: Dialect, method: str, path: str, request: Chunk) -> Shape | None:
    """The form of answer that is asked for; None for what isn't asked of a model."""
    own = dialect.shape(path, request)
    if own is not None and (method == "POST" or own.name == "prediction"):
        return own
    if method != "POST":
        return None
    return next((shape for end, shape in _USUAL if path.endswith(end)), None)


def dialect_of(host: str, path: str, request: Chunk, chunks: Iterable[Chunk], declared: str | None) -> Dialect:
    """By a host that is a provider's own; else as declared; else by the path, and by what only one provider writes."""
    own = of_host(host)
    if own is not None:
        return own
    if declared is not None:
        return DIALECTS.get(declared, COMPATIBLE)
    for dialect in (GOOGLE, BEDROCK, OLLAMA):
        if dialect.shape(path, request) is not None:
            return dialect
    if path.endswith("/messages"):
        return ANTHROPIC
    found = marked(chunks)
    return found[0] if len(found) == 1 else COMPATIBLE


def marked(chunks: Iterable[Chunk]) -> list[Dialect]:
    """Every dialect of which a chunk holds something that only that provider writes."""
    kept = list(chunks)
    return [dialect for dialect in DIALECTS.values() if any(dialect.marks(chunk) for chunk in kept)]
