"""The smallest pieces of Markdown: hostile text made harmless, numbers, tables."""

from __future__ import annotations

import re

_MARKUP = "\\`*_{}[]<>#|!~&$"
_PLAIN_CODE = re.compile(r"[A-Za-z0-9_-]{1,100}")
SMALLEST_P = 1e-12


def text(value: object, limit: int = 160) -> str:
    """Hostile text made harmless in Markdown: one line, no markup, HTML or links, controls and bidi marks escaped."""
    raw = " ".join(str(value).splitlines())
    raw = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in raw)
    raw = raw if len(raw) <= limit else raw[: limit - 1] + "…"
    made = "".join(f"&#{ord(c)};" if c in _MARKUP else c for c in raw)
    # What would become a link by itself.
    return re.sub(r"(?i)(?<=www)\.|:(?=//)|(?<=mailto|..xmpp):|@", lambda found: f"&#{ord(found[0])};", made)


def code(value: object) -> str:
    """An id in code font; anything that isn't one as plain text, since nothing can be escaped inside of code."""
    return f"`{value}`" if _PLAIN_CODE.fullmatch(str(value)) else text(value)


def number(value: float | None, form: str = "+.3f") -> str:
    """A number, or a dash where it is unknown."""
    return "–" if value is None else format(value, form)


def interval(row: dict[str, float | None]) -> str:
    """Both limits, or nothing where there is no interval."""
    return "none" if row["lo"] is None else f"[{number(row['lo'])}, {number(row['hi'])}]"


def p_value(value: float | None) -> str:
    """A p-value; the smallest that is resolved stands for less, too."""
    return "<1e-12" if value is not None and value <= SMALLEST_P else number(value, ".6g")


def table(head: list[str], rows: list[list[object]]) -> str:
    """A Markdown table; cells are taken as they are."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(str(c) for c in row) + " |" for row in rows)]) + "\n"
