"""What the recorder needs to know of a provider: where it is, how its key goes in, how agents are pointed elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

DUMMY_KEY = "weighbridge-recorder-holds-the-key"
"""What an agent is given in place of a key: it opens nothing, and says where the real one is."""


@dataclass(frozen=True)
class Provider:
    """`upstream` is the base URL that agents of this provider are configured with, None where each user has his own.

    `header` carries the key after `scheme`, and so may the parameter `query` of a URL; `key_env` is the variable in
    which this machine is expected to have it, None where none is needed. `base_variables` point an agent at a base
    URL, `key_variables` hold its key.
    """

    upstream: str | None
    key_env: str | None
    header: str = "Authorization"
    scheme: str = "Bearer "
    base_variables: tuple[str, ...] = ()
    key_variables: tuple[str, ...] = ()
    query: str | None = None


_BASES, _KEYS = ("OPENAI_BASE_URL", "OPENAI_API_BASE"), ("OPENAI_API_KEY",)

PROVIDERS: dict[str, Provider] = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", base_variables=_BASES, key_variables=_KEYS),
    "anthropic": Provider(
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        "x-api-key",
        "",
        ("ANTHROPIC_BASE_URL",),
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    ),
    "openrouter": Provider(
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        base_variables=("OPENROUTER_BASE_URL", "OPENROUTER_API_BASE", *_BASES),
        key_variables=("OPENROUTER_API_KEY", *_KEYS),
    ),
    "azure": Provider(
        None,
        "AZURE_OPENAI_API_KEY",
        "api-key",
        "",
        ("AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE"),
        ("AZURE_OPENAI_API_KEY", "AZURE_API_KEY"),
    ),
    "google": Provider(
        "https://generativelanguage.googleapis.com",
        "GEMINI_API_KEY",
        "x-goog-api-key",
        "",
        ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_BASE"),
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        query="key",
    ),
    "groq": Provider(
        "https://api.groq.com", "GROQ_API_KEY", base_variables=("GROQ_BASE_URL",), key_variables=("GROQ_API_KEY",)
    ),
    "mistral": Provider(
        "https://api.mistral.ai",
        "MISTRAL_API_KEY",
        base_variables=("MISTRAL_BASE_URL", "MISTRAL_API_BASE"),
        key_variables=("MISTRAL_API_KEY",),
    ),
    "cohere": Provider(
        "https://api.cohere.com", "CO_API_KEY", base_variables=("CO_API_URL",), key_variables=("CO_API_KEY",)
    ),
    "deepseek": Provider(
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        base_variables=("DEEPSEEK_API_BASE", *_BASES),
        key_variables=("DEEPSEEK_API_KEY", *_KEYS),
    ),
    "vllm": Provider(None, None, base_variables=_BASES, key_variables=_KEYS),
    "ollama": Provider(None, None, base_variables=("OLLAMA_HOST", "OLLAMA_API_BASE")),
    "generic": Provider(None, None, base_variables=_BASES, key_variables=_KEYS),
}


def agent_variables(provider: str, base_url: str) -> dict[str, str]:
    """The variables by which an agent finds the recorder in the provider's place, with a key that opens nothing."""
    known = PROVIDERS[provider]
    return dict.fromkeys(known.base_variables, base_url) | dict.fromkeys(known.key_variables, DUMMY_KEY)
