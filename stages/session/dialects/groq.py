"""Groq: chat; its bodies tell the times spent, its own queue apart."""

from __future__ import annotations

from stages.session.dialects.model import Dialect

GROQ = Dialect(
    name="groq",
    hosts=("api.groq.com",),
    closed=True,
    marks=lambda chunk: "x_groq" in chunk,
    identity=("server", "via", "x-groq-region"),
    region=("x-groq-region",),
    claimed_body=(("usage.total_time", 1000.0),),
)
