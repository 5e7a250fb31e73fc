"""Which grammar reads a JavaScript or TypeScript source, and what these grammars don't know yet, put otherwise."""

from __future__ import annotations

import re

from stages.assumptions import syntax

_RESERVED = (
    "null|void|function|catch|instanceof|delete|default|in|new|class|enum|typeof|with|import|switch|this|true|false"
)
_RENAMED = re.compile(rf"(?<=\bas\s)(?:{_RESERVED})(?=\s*[,}}])")
_VARIANCE = re.compile(r"(?<=[<,/])(\s*)((?:in\s+)?out|in)(?=\s+[A-Za-z_$][\w$]*\s*(?:extends\b|[=,>]))")
_UNNAMED = re.compile(r"\bexport default function \(")


def grammar(path: str) -> str:
    if path.endswith(".tsx"):
        return "tsx"
    return "typescript" if path.endswith((".ts", ".mts", ".cts")) else "javascript"


def decode(content: bytes, name: str) -> syntax.Text:
    """As others are. Valid code that is an error to the grammars is replaced by code of the same length and lines:
    `export { a as null }`, `interface I<in out T>`, a declared function without name or body."""
    found = syntax.decode(content, name)
    text = _RENAMED.sub(lambda match: "_" * len(match[0]), found.text)
    if name != "javascript":
        text = _VARIANCE.sub(lambda match: match[1] + " " * len(match[2]), text)
        text = _UNNAMED.sub("export function default_(", text)
    return syntax.Text(name, text, found.starts, found.bad)
