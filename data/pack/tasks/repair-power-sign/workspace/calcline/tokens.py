"""Tokens of a formula."""

import re

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([a-z_]\w*)|([-+*/^()]))", re.IGNORECASE)


class FormulaError(ValueError):
    """The formula cannot be read."""


def tokenize(text: str) -> list[str]:
    """Numbers, names and signs, in order."""
    tokens: list[str] = []
    text = text.rstrip()
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise FormulaError(f"cannot read {text[position:]!r}")
        tokens.append(match.group(match.lastindex))
        position = match.end()
    return tokens
