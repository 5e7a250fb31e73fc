"""Which fields of a syntax node can hold nodes, so that walks needn't look at the others."""

from __future__ import annotations

import ast

from stages.assumptions.tables import words

_NEVER = words("""
    arg asname attr conversion ctx id is_async kind kwd_attrs level lineno module op ops rest simple type_comment
""")
_fields: dict[type, tuple[str, ...]] = {}


def fields(kind: type) -> tuple[str, ...]:
    """Fields of nodes of this type that hold nodes, or lists with nodes in them; contexts and operators aside."""
    found = _fields.get(kind)
    if found is None:
        names = kind._fields if issubclass(kind, ast.AST) else ()
        if kind is ast.Constant:
            names = ()
        found = _fields[kind] = tuple(name for name in names if name not in _NEVER)
    return found


def depth(tree: ast.AST) -> int:
    """Levels of nodes from the root to the deepest leaf."""
    levels, known = 0, _fields
    level: list[object] = [tree]
    while level:
        levels += 1
        below: list[object] = []
        for node in level:
            kind = type(node)
            for name in known[kind] if kind in known else fields(kind):
                value = getattr(node, name, None)
                if type(value) is list:
                    below += value
                elif value is not None:
                    below.append(value)
        level = below
    return levels
