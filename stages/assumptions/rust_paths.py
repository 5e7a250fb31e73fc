"""Rust: paths and texts as they are written, in use declarations, in code, and among the tokens of macros."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from stages.assumptions.bound import Lines
from stages.assumptions.syntax import Node
from stages.assumptions.tables import words

SCOPED = frozenset(("scoped_identifier", "scoped_type_identifier"))
_WORDS = words("identifier type_identifier crate self super metavariable primitive_type")
_ESCAPE = re.compile(r"\\(?:x([0-7][0-9a-fA-F])|u\{([0-9a-fA-F_]{1,8})\}|(\r?\n\s*)|([nrt0\\'\"]))")
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_MAX_SEGMENTS = 30


class Path(NamedTuple):
    """`names` of a path; `absolute` with `::` before it."""

    names: list[str]
    absolute: bool
    lines: Lines


def leaves(node: Node) -> Iterator[tuple[Path, str]]:
    """The paths that a use declaration names, each with the name that it gets; `*` for all below."""
    absolute = node.text.partition("use")[2].lstrip().startswith("::")
    stack: list[tuple[Node, list[str]]] = [(part, []) for part in reversed(node.parts)]
    while stack:
        part, prefix = stack.pop()
        parts = part.parts
        if len(prefix) > _MAX_SEGMENTS:
            yield Path(prefix, absolute, node.lines), "_"
        elif part.kind == "use_list":
            stack += [(each, prefix) for each in reversed(parts)]
        elif part.kind == "scoped_use_list":
            lead = segments(parts[0]) if len(parts) > 1 else None
            stack.append((parts[-1], prefix + (lead.names if lead else [])))
        elif part.kind == "use_wildcard":
            lead = segments(parts[0]) if parts else None
            yield Path(prefix + (lead.names if lead else []), absolute, node.lines), "*"
        elif part.kind == "use_as_clause" and len(parts) == 2:
            lead = segments(parts[0])
            if lead is not None:
                yield Path(_whole(prefix, lead.names), absolute, node.lines), plain(parts[1].text)
        elif part.kind in _WORDS | SCOPED:
            lead = segments(part)
            if lead is not None:
                names = _whole(prefix, lead.names)
                yield Path(names, absolute, node.lines), names[-1]


def _whole(prefix: list[str], names: list[str]) -> list[str]:
    return prefix if prefix and names == ["self"] else prefix + names


def segments(node: Node) -> Path | None:
    """The words of a path; None where it starts from a type in brackets."""
    names: list[str] = []
    base = node
    while base.kind in SCOPED | {"generic_type", "generic_function"}:
        parts = base.parts
        if not parts:
            return None
        if base.kind in SCOPED:
            names.append(plain(parts[-1].text))
            if len(parts) == 1:
                return Path(names[::-1], True, node.lines)
        base = parts[0]
    return Path([*names, plain(base.text)][::-1], False, node.lines) if base.kind in _WORDS else None


def in_tokens(tree: Node) -> Iterator[tuple[Path, Node | None]]:
    """The paths among a macro's tokens, each with the arguments after it."""
    row = tree.children
    i = 0
    while i < len(row):
        before = row[i - 1].kind if i else ""
        names, start = [], i
        while i < len(row) and row[i].kind in _WORDS:
            names.append(plain(row[i].text))
            if i + 2 >= len(row) or row[i + 1].kind != "::" or row[i + 2].kind not in _WORDS:
                break
            i += 2
        if names and before not in (".", "::"):
            after = row[i + 1] if i + 1 < len(row) else None
            called = after is not None and after.kind == "token_tree" and [c.kind for c in after.children[:1]] == ["("]
            yield Path(names, False, (row[start].line, row[i].lines[1])), after if called else None
        i += 1


def literal(node: Node) -> str | None:
    if node.kind == "raw_string_literal":  # its quotes are no nodes
        return "".join(part.text for part in node.parts)
    if node.kind != "string_literal":
        return None
    return _ESCAPE.sub(_unescaped, "".join(part.text for part in node.parts))


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or (match[2] or "").replace("_", "")
    if digits:
        return chr(min(int(digits, 16), 0x10FFFF))
    return "" if match[3] else _SHORT.get(match[4], match[4])


def plain(name: str) -> str:
    return name.removeprefix("r#")
