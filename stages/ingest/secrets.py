"""Keys, tokens and credentials that logs carry, cut out of every text before it is kept."""

from __future__ import annotations

import re

MASK = "********"
_SECRET = re.compile(
    r"(?i:(?<=bearer )|(?<=basic ))[A-Za-z0-9+/=._~-]{8,}"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghu|ghs|ghr|glpat|xox[abpr]|github_pat|AKIA|ASIA|AIza|ya29)[-_.]?[A-Za-z0-9_.-]{12,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|(?<=://)[^/\s@]{1,200}@"
    r"|(?i:\b(?:api[-_]?key|x-api-key|authorization|cookie|set-cookie|token|secret|password|passwd)\b\"?'?\s*[:=]\s*\"?'?)"
    r"[^\s\"',;]{4,}(?:\s+[A-Za-z0-9+/=._~-]{8,})?"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*"
)


def clean(text: str) -> str:
    """The text with whatever looks like a secret replaced."""
    return _SECRET.sub(MASK, text)
