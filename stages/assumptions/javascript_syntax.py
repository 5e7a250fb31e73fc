"""JavaScript and TypeScript: pieces of syntax, read without regard to what names stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stages.assumptions.syntax import Node
from stages.assumptions.tables import words

WRAPPERS = words("parenthesized_expression non_null_expression as_expression satisfies_expression")
PATTERNS = words("object_pattern array_pattern")
MAX_CHAIN = 16
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|(\r\n|[\s\S]))")
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": "", "\r": ""}


def literal(node: Node) -> str | None:
    """The text of a string or of a template's fixed piece."""
    if node.kind == "string":
        return unescaped(node.text[1:-1])
    if node.kind in ("string_fragment", "escape_sequence"):
        return unescaped(node.text)
    return "" if node.kind == "template_string" and not node.parts else None


def unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3]
        if digits is None:
            return _SHORT.get(match[4], match[4])
        return chr(min(int(digits, 16), 0x10FFFF))

    return _ESCAPE.sub(one, text) if "\\" in text else text


def name_of(node: Node) -> str:
    return unescaped(node.text)


def carried(node: Node) -> tuple[Node, Node | None]:
    """The outermost expression that has the node's value, and what stands around it."""
    outer = node.parent
    while outer is not None and (outer.kind in WRAPPERS or any(node is part for part in alternatives(outer))):
        node, outer = outer, outer.parent
    return node, outer


def alternatives(node: Node) -> list[Node]:
    """The expressions that a choice has its value from."""
    parts = node.parts
    if node.kind == "ternary_expression" and len(parts) == 3:
        return parts[1:]
    if node.kind == "binary_expression" and len(parts) == 2:
        if node.has("||") or node.has("??"):
            return parts
        if node.has("&&"):
            return parts[1:]
    return []


def leaves(pattern: Node) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """The names that a pattern binds and where in the value they are; `*` where that can't be said."""
    stack: list[tuple[Node, tuple[str, ...]]] = [(pattern, ())]
    while stack:
        node, path = stack.pop()
        parts = node.parts
        if node.kind == "identifier":
            yield node, path
        elif node.kind == "shorthand_property_identifier_pattern":
            yield node, (*path, name_of(node))
        elif len(path) > MAX_CHAIN:
            continue
        elif node.kind == "pair_pattern" and len(parts) == 2:
            stack.append((parts[1], (*path, key_of(parts[0]) or "*")))
        elif node.kind in ("object_assignment_pattern", "assignment_pattern") and parts:
            stack.append((parts[0], path))
        elif node.kind in ("rest_pattern", "array_pattern"):
            stack += [(part, (*path, "*")) for part in parts]
        elif node.kind == "object_pattern":
            stack += [(part, path) for part in parts]


def key_of(node: Node) -> str | None:
    """The name of a key in an object or pattern, None where it is computed."""
    if node.kind == "computed_property_name":
        return literal(node.parts[0]) if node.parts else None
    return literal(node) if node.kind == "string" else name_of(node)


def joined(node: Node) -> list[Node] | None:
    parts = node.parts
    if node.kind == "binary_expression" and node.has("+") and len(parts) == 2:
        return parts
    if node.kind in WRAPPERS | {"template_substitution"} and parts:
        return parts[:1]
    return parts if node.kind == "template_string" else None
