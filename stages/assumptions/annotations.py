"""Whether two annotations say the same, whatever they are spelled like.

The same are: `Optional[X]`, `Union[X, None]` and `X | None` in any order; `typing.List[int]` and `list[int]`;
quoted and unquoted; `Annotated[X, ...]` and X; a name and the same name with its module; a simple alias of
the module (`Amount = int`) and what it stands for. `list` and `list[Any]` differ, as does everything else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from stages.assumptions.source import Unreadable, parse_text

Lookup = Callable[[str], "ast.expr | str | None"]
"""A bare name to the dotted name that it is imported from, to the expression it is an alias of, or None."""

_MODULES = ("typing.", "typing_extensions.", "collections.abc.", "collections.", "builtins.", "types.")
_BUILT_IN = {
    "List": "list",
    "Dict": "dict",
    "Set": "set",
    "FrozenSet": "frozenset",
    "Tuple": "tuple",
    "Type": "type",
    "Text": "str",
    "Deque": "deque",
    "DefaultDict": "defaultdict",
    "AbstractSet": "Set",
    "NoneType": "None",
}
_MAX_DEPTH = 40

Form = tuple[Any, ...]


def nothing(name: str) -> ast.expr | str | None:  # noqa: ARG001
    return None


def same(pinned: ast.expr, found: ast.expr, lookup: Lookup) -> bool:
    """Whether the pinned annotation and the one found in a module mean the same type."""
    left = form(pinned, nothing)
    return any(_equal(left, form(found, lookup, aliases)) for aliases in (False, True))


def form(node: ast.expr, lookup: Lookup, aliases: bool = False, depth: int = 0) -> Form:
    """A normal form: (kind, parts...). What nests too deeply equals nothing but itself."""
    if depth > _MAX_DEPTH:
        return ("deep", node)

    def inner(part: ast.expr) -> Form:
        return form(part, lookup, aliases, depth + 1)

    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            quoted = unquoted(node.value)
            return inner(quoted) if quoted is not None else ("text", node.value)
        return ("name", "None") if node.value is None else ("constant", repr(node.value))
    if isinstance(node, ast.Name | ast.Attribute):
        dotted = _dotted(node)
        if dotted is None:
            return ("other", dump(node))
        first, _, rest = dotted.partition(".")
        meant = lookup(first)
        if isinstance(meant, str):
            dotted = f"{meant}.{rest}" if rest else meant
        elif meant is not None and aliases and not rest:
            return inner(meant)
        return ("name", _plain(dotted))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        members: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.BitOr):
            members.append(left.right)
            left = left.left
        return _union([inner(member) for member in (left, *members)])
    if isinstance(node, ast.Subscript):
        base = inner(node.value)
        args = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if base == ("name", "Optional"):
            return _union([*map(inner, args), ("name", "None")])
        if base == ("name", "Union"):
            return _union([*map(inner, args)])
        if base == ("name", "Annotated") and args:
            return inner(args[0])
        if base == ("name", "Literal"):
            return ("literal", frozenset(dump(arg) for arg in args))
        return ("of", base, *map(inner, args))
    if isinstance(node, ast.List | ast.Tuple):
        return ("list", *map(inner, node.elts))
    return ("other", dump(node))


def unquoted(text: str) -> ast.expr | None:
    """The expression in a quoted annotation, None if there is none."""
    try:
        body = parse_text(text.strip()).body
    except Unreadable:
        return None
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None


def dump(node: ast.expr) -> object:
    """A node's structure as text, or the node itself where that nests too deeply."""
    try:
        return ast.dump(node)
    except RecursionError:
        return node


def _union(members: Sequence[Form]) -> Form:
    flat: list[Form] = []
    for member in members:
        flat += member[1:] if member[0] == "union" else [member]
    distinct = list(dict.fromkeys(flat))
    return distinct[0] if len(distinct) == 1 else ("union", *distinct)


def _equal(pinned: Form, found: Form) -> bool:
    if pinned[0] != found[0] or len(pinned) != len(found):
        return False
    if pinned[0] == "name":
        return _same_name(pinned[1], found[1])
    if pinned[0] == "union":
        left = list(found[1:])
        for member in pinned[1:]:
            match = next((i for i, other in enumerate(left) if _equal(member, other)), None)
            if match is None:
                return False
            left.pop(match)
        return True
    if pinned[0] in ("of", "list"):
        return all(_equal(a, b) for a, b in zip(pinned[1:], found[1:], strict=True))
    return pinned == found


def _same_name(pinned: str, found: str) -> bool:
    """Equal, or one is the other with its module before it."""
    return pinned == found or found.endswith("." + pinned) or pinned.endswith("." + found)


def _plain(dotted: str) -> str:
    for module in _MODULES:
        if dotted.startswith(module):
            dotted = dotted[len(module) :]
            break
    return _BUILT_IN.get(dotted, dotted)


def _dotted(node: ast.expr) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None
