"""Keys, tokens and credentials that logs carry, cut out of every text before it is kept."""

from __future__ import annotations

import re

MASK = "********"
_WORDS = (
    r"(?:api|access|private|secret|signing)[-_ ]?key(?:[-_ ]?id)?|token|secret(?:[-_ ]?access[-_ ]?key)?"
    r"|passw(?:or)?d|passphrase|credential|session[-_ ]?id|csrf"
)
_SECRET = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?s:.*)"
    r"|(?i:cookie|authorization)\"?'?\s*[:=]\s*\"?'?[^\"'\r\n]{4,}"
    r"|(?i:(?<=bearer )|(?<=basic ))[A-Za-z0-9+/=._~-]{6,}"
    rf"|(?i:{_WORDS})(?:s|[-_][\w-]{{0,30}})?\"?'?\s*[:=]\s*\"?'?(?!(?:\d{{1,9}}|(?i:true|false|none|null))\b)[^\s\"',;&}}]{{4,}}"
    r"|(?i:(?<=signature=)|(?<=[?&]sig=)|(?<=\bsig=))[^\s\"'&]{8,}"
    r"|(?<=://)[^/\s@]{1,500}@"
    # what vendors put before their keys
    r"|\b(?:sk|pk|rk|xox[a-z]|glpat|dckr_pat)[-][\w.-]{12,}|\b(?:sk|pk|rk)_(?:live|test)_\w{8,}|\bdckr_pat_[\w-]{12,}"
    r"|\b(?:gh[opsur]|github_pat|gsk|hf|npm|r8|xai)[-_](?=[A-Za-z0-9]{16})[\w-]*|\b(?:AKIA|ASIA)[0-9A-Z]{12,}|\bpypi-[\w-]{16,}"
    r"|\bAIza[\w-]{20,}|\bya29\.[\w.-]{12,}|\bSG\.[\w-]{16,}\.[\w-]{16,}|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
)


def clean(text: str, mask: str = MASK) -> str:
    """The text with whatever looks like a secret replaced. Clean before cutting: half a secret isn't known as one."""
    return _SECRET.sub(mask, text)
