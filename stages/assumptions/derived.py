"""Origins of what isn't a plain name: `getattr(os, "environ")`, `vars(os)["environ"]`, imports by text."""

from __future__ import annotations

import ast

from stages.assumptions.constants import texts
from stages.assumptions.names import Found, Names, merge
from stages.assumptions.scopes import Scope


def expression(names: Names, expr: ast.expr, scope: Scope) -> Found:
    """The origins of what an expression evaluates to; none where that can't be known."""
    if isinstance(expr, ast.NamedExpr):
        return names.origins(expr.value, scope)
    if isinstance(expr, ast.IfExp):
        return merge(names.origins(expr.body, scope), names.origins(expr.orelse, scope))
    if isinstance(expr, ast.BoolOp):
        return merge(*(names.origins(value, scope) for value in expr.values))
    if isinstance(expr, ast.Subscript):
        found = names.origins(expr.value, scope)
        keys = texts(names, expr.slice, scope) if found else None
        if not keys:
            return {}
        if "sys.modules" in found:
            return dict(keys)
        spaces = [n.removesuffix(".__dict__") for n in found if n.endswith(".__dict__") or n == "builtins"]
        return merge(*(names.canonical(f"{s}.{key}", scope.path) for s in spaces for key in keys))
    if not isinstance(expr, ast.Call) or not expr.args:
        return {}
    functions = names.origins(expr.func, scope)
    if "builtins.vars" in functions:
        return {f"{name}.__dict__": fresh for name, fresh in names.origins(expr.args[0], scope).items()}
    if "builtins.getattr" in functions and len(expr.args) > 1:
        keys = texts(names, expr.args[1], scope) or {}
        spaces = list(names.origins(expr.args[0], scope))
        return merge(*(names.canonical(f"{s}.{key}", scope.path) for s in spaces for key in keys))
    if "importlib.import_module" in functions or "builtins.__import__" in functions:
        keys = texts(names, expr.args[0], scope) or {}
        whole = (
            "importlib.import_module" in functions
            or len(expr.args) > 3
            or any(keyword.arg == "fromlist" for keyword in expr.keywords)
        )
        modules = [key if whole else key.partition(".")[0] for key in keys if not key.startswith(".")]
        return merge(*(names.canonical(module, scope.path) for module in modules))
    return {}
