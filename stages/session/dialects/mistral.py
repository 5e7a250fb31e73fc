"""Mistral: chat; quota by the size of requests, and by windows that are named in the header."""

from __future__ import annotations

import re

from stages.session.dialects.model import CHAT_QUOTA, Dialect

MISTRAL = Dialect(
    name="mistral",
    hosts=("api.mistral.ai", "codestral.mistral.ai"),
    families=frozenset({"mistral"}),
    closed=True,
    identity=("server",),
    quota=(
        CHAT_QUOTA,
        re.compile(r"(?:x-)?(?P<kind>ratelimitbysize)-(?P<what>limit|remaining|reset)(?:-(?P<window>minute|month))?"),
    ),
    claimed=(("x-envoy-upstream-service-time", 1.0), ("x-kong-upstream-latency", 1.0)),
    exhausted=frozenset({"monthly_quota_exceeded"}),
)
