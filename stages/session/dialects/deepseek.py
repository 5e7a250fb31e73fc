"""DeepSeek: chat, with tokens of its cache told apart; 402 where the balance is used up."""

from __future__ import annotations

from stages.session.dialects.model import Dialect, at

DEEPSEEK = Dialect(
    name="deepseek",
    hosts=("api.deepseek.com",),
    families=frozenset({"deepseek"}),
    closed=True,
    marks=lambda chunk: at(chunk, "usage.prompt_cache_miss_tokens") is not None,
    identity=("server",),
    exhausted=frozenset({"insufficient_balance"}),
)
