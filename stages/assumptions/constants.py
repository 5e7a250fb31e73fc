"""Constant texts: every value that an expression can take, where all of them can be known.

`"env" + "iron"`, f-strings of constants, `"".join(...)`, changes of case, names bound to constants only,
loops over written-out sequences, constants of other files of the tree.
"""

from __future__ import annotations

import ast
from itertools import product

from stages.assumptions.names import MAX_TEXTS, Found, Names
from stages.assumptions.scopes import Scope

_MAX_LENGTH = 10_000
_METHODS = ("upper", "lower", "strip")
_COPIES = frozenset(f"builtins.{name}" for name in ("list", "tuple", "set", "frozenset", "sorted"))


def texts(names: Names, expr: ast.expr, scope: Scope) -> Found | None:
    """The possible texts of an expression, each with whether the patch touched its way; None if unknown.

    Bytes are read as Latin-1, as keys of `os.environb` are ASCII in practice.
    """
    if isinstance(expr, ast.Constant):
        if isinstance(expr.value, bytes):
            return {expr.value.decode("latin-1"): False}
        return {expr.value: False} if isinstance(expr.value, str) else None
    found = names.once(("text", expr), lambda: _texts(names, expr, scope))
    return found if found else None  # what was cut short is unknown


def elements(names: Names, expr: ast.expr, scope: Scope) -> list[tuple[ast.expr, Scope]] | None:
    """The items of a written-out sequence or the keys of a written-out dictionary; None if unknown."""
    for _ in range(8):
        if isinstance(expr, ast.Tuple | ast.List | ast.Set):
            parts: list[ast.expr | None] = list(expr.elts)
        elif isinstance(expr, ast.Dict):
            parts = list(expr.keys)
        elif isinstance(expr, ast.Call) and len(expr.args) == 1 and _COPIES & names.origins(expr.func, scope).keys():
            expr = expr.args[0]
            continue
        else:
            bound = names.bindings(expr, scope)
            if not bound or len(bound) != 1 or bound[0].form != "value" or bound[0].value is None:
                return None
            expr, scope = bound[0].value, bound[0].scope
            continue
        known = [part for part in parts if part is not None and not isinstance(part, ast.Starred)]
        return [(part, scope) for part in known] if len(known) == len(parts) else None
    return None


def _texts(names: Names, expr: ast.expr, scope: Scope) -> Found | None:
    if isinstance(expr, ast.BinOp):
        operands = []
        left: ast.expr = expr
        while isinstance(left, ast.BinOp):
            if not isinstance(left.op, ast.Add):
                return None
            operands.append(left.right)
            left = left.left
        return _joined([texts(names, part, scope) for part in (left, *reversed(operands))])
    if isinstance(expr, ast.JoinedStr):
        parts: list[Found | None] = []
        for piece in expr.values:
            if isinstance(piece, ast.FormattedValue):
                plain = piece.format_spec is None and piece.conversion == -1
                parts.append(texts(names, piece.value, scope) if plain else None)
            else:
                parts.append(texts(names, piece, scope))
        return _joined(parts)
    if isinstance(expr, ast.IfExp):
        return _united([texts(names, expr.body, scope), texts(names, expr.orelse, scope)])
    if isinstance(expr, ast.BoolOp):
        return _united([texts(names, value, scope) for value in expr.values])
    if isinstance(expr, ast.NamedExpr):
        return texts(names, expr.value, scope)
    if isinstance(expr, ast.Call):
        return _called(names, expr, scope)
    return _bound(names, expr, scope)


def _bound(names: Names, expr: ast.expr, scope: Scope) -> Found | None:
    values: list[Found | None] = []
    for binding in names.bindings(expr, scope) or []:
        if binding.form not in ("value", "each") or binding.value is None or len(values) > MAX_TEXTS:
            return None
        if binding.form == "value":
            part = texts(names, binding.value, binding.scope)
        else:
            items = elements(names, binding.value, binding.scope)
            part = _united([texts(names, item, at) for item, at in items]) if items else None
        touched = names.touched(binding)
        values.append({text: touched or fresh for text, fresh in part.items()} if part else None)
    return _united(values)


def _called(names: Names, call: ast.Call, scope: Scope) -> Found | None:
    if not isinstance(call.func, ast.Attribute) or call.keywords:
        return None
    base, method = call.func.value, call.func.attr
    if method == "join" and len(call.args) == 1:
        items = elements(names, call.args[0], scope)
        glue = texts(names, base, scope)
        if not items or not glue or len(items) > MAX_TEXTS:
            return None
        parts: list[Found | None] = []
        for i, (item, at) in enumerate(items):
            parts += [glue] * (i > 0) + [texts(names, item, at)]
        return _joined(parts)
    known = texts(names, base, scope) if method in (*_METHODS, "encode", "decode") else None
    if known is None or (call.args and method in _METHODS) or not all(text.isascii() for text in known):
        return None
    return {_changed(text, method): fresh for text, fresh in known.items()}


def _changed(text: str, method: str) -> str:
    if method == "upper":
        return text.upper()
    if method == "lower":
        return text.lower()
    return text.strip() if method == "strip" else text


def _joined(parts: list[Found | None]) -> Found | None:
    if len(parts) > 1000 or any(not part for part in parts):
        return None
    known = [part for part in parts if part]
    total = 1
    for part in known:
        total *= len(part)
        if total > MAX_TEXTS:
            return None
    joined: Found = {}
    for row in product(*(part.items() for part in known)):
        text = "".join(piece for piece, _ in row)
        if len(text) > _MAX_LENGTH:
            return None
        joined[text] = joined.get(text, False) or any(fresh for _, fresh in row)
    return joined


def _united(parts: list[Found | None]) -> Found | None:
    united: Found = {}
    for part in parts:
        if not part:
            return None
        for text, fresh in part.items():
            united[text] = united.get(text, False) or fresh
    return united if 0 < len(united) <= MAX_TEXTS else None
