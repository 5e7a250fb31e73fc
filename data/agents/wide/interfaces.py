"""Operators on signatures: a constant becomes an optional parameter, an unused parameter gets used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from common.context import Context
from common.edits import Edit, Part, replace
from common.source import Function, Source, parameters


def parameter_part(source: Source, function: Function, text: str) -> Part | None:
    """Return the part that adds a parameter, written as `text`; None where `*` or `**` is in its way."""
    arguments = function.args
    if arguments.vararg or arguments.kwarg:
        return None
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    ends = [source.span(item)[1] for item in (*given, *arguments.defaults, *arguments.kw_defaults) if item]
    if not ends:
        at = source.data.index(b"(", source.span(function)[0]) + 1
        return Part(source.path, at, at, text)
    return Part(source.path, max(ends), max(ends), f", {text}")


def lifted(context: Context) -> Iterator[Edit]:
    """Make a number of a function an optional parameter, with a default one more or one less."""
    for source, node in context.hot(ast.Constant):
        function = source.function_of(node)
        if type(node.value) is not int or function is None or not 0 <= node.value < 1000:
            continue
        if not function.body[0].lineno <= node.lineno:
            continue
        name = _fresh(context, source, node)
        for value in (node.value + 1, node.value - 1):
            part = parameter_part(source, function, f"{name}={value}")
            if name and part is not None:
                parts = (part, Part(source.path, *source.span(node), name))
                yield Edit("lifted", source.path, node.lineno, parts)


def _fresh(context: Context, source: Source, node: ast.AST) -> str:
    above = source.parents[node]
    usual = "limit" if isinstance(above, ast.Compare) else "start" if isinstance(above, ast.Call) else "step"
    taken = {*context.names_at(source, node), *context.globals_of(source)}
    return next((name for name in (usual, f"{usual}_at", f"{usual}_value") if name not in taken), "")


def used(context: Context) -> Iterator[Edit]:
    """Read a parameter that the function never reads, in place of another value."""
    for source, function in context.hot(ast.FunctionDef):
        read = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        unused = [name for name in parameters(function) if name not in read]
        inner = [node for statement in function.body for node in ast.walk(statement)] if unused else []
        for node in inner:
            read_here = isinstance(node, ast.Constant) or (
                isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
            )
            shown = isinstance(source.parents[node], ast.Expr | ast.JoinedStr | ast.FormattedValue)
            if read_here and not shown:
                for name in unused:
                    yield replace(source, node, name, "used", 0.8)


OPERATORS = ((lifted, 0.35), (used, 0.7))
