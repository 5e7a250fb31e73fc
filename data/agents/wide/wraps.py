"""Operators that wrap a value in a usual call, or take such a call away."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from common.context import Context
from common.edits import Edit, Part, needs_import, replace
from common.source import Source

CALLS = (
    "sorted",
    "list",
    "set",
    "int",
    "str",
    "abs",
    "round",
    "len",
    "tuple",
    "dict",
    "float",
    "bool",
    "reversed",
)
METHODS = (".strip()", ".lower()", ".upper()", ".copy()", ".casefold()", ".items()", ".values()", ".rstrip()")
IMPORTED = ("copy.deepcopy", "copy.copy", "math.ceil", "math.floor")
TOPICS = {
    ".lower()": "case capital upper lower",
    ".casefold()": "case capital upper lower",
    ".strip()": "blank space whitespace padding padded trim edge around",
    ".rstrip()": "blank space trailing end",
    ".copy()": "copy share same change original remember",
    "copy.deepcopy": "copy share change original remember nested",
    "sorted": "order sort alphabetical",
    "set": "duplicate unique once repeat twice distinct",
    "abs": "sign negative direction distance",
    "max(0,": "negative below zero",
    "round": "round nearest",
    "math.ceil": "round up started",
    "math.floor": "round down whole",
    "int": "number integer whole numeric",
    "str": "text string",
    "list": "list",
    "tuple": "tuple",
    "len": "length long many count number",
    "reversed": "reverse backward newest last",
}


FITTING = {
    ".items()": "dict",
    ".values()": "dict",
    ".copy()": "dict list set",
    "copy.deepcopy": "dict list set tuple",
    "copy.copy": "dict list set",
    "math.ceil": "float",
    "math.floor": "float",
    "sorted": "list tuple set dict str",
    "list": "tuple set dict str",
    "tuple": "list set",
    "set": "list tuple",
    "dict": "dict list",
    "len": "list tuple set dict str",
    "reversed": "list tuple",
    "int": "float str bool",
    "float": "int str",
    "str": "int float bool",
    "abs": "int float",
    "round": "float",
    "bool": "int str list",
    "max(0,": "int float",
}


def _fits(kind: str, wrap: str) -> bool:
    """Return whether a wrap makes sense for a value of this kind ("" is any)."""
    return not kind or kind in FITTING.get(wrap, "str").split()


def _topical(context: Context, wrap: str) -> float:
    """Return 1.0 where the statement speaks of what a wrap is for, else less."""
    stems = {word.rstrip("s") for word in context.hints.words}
    return 1.0 if any(word in stems for word in TOPICS.get(wrap, "").split()) else 0.35


def unwraps(context: Context) -> Iterator[Edit]:
    """Take a call of one argument away, or of a method without arguments."""
    for source, node in context.hot(ast.Call):
        if isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
            yield replace(source, node, source.text(node.func.value), "unwraps")
        elif len(node.args) == 1 and not node.keywords and _single(node.args[0]):
            yield replace(source, node, source.atom(node.args[0]), "unwraps")


def _single(node: ast.expr) -> bool:
    return not isinstance(node, ast.Starred | ast.GeneratorExp)


def method_wraps(context: Context) -> Iterator[Edit]:
    """Call a usual method of a value."""
    for source, node, place in values(context):
        kind = context.kinds.of(source, node)
        for method in METHODS:
            if _fits(kind, method):
                weight = place * _topical(context, method)
                yield replace(source, node, f"{source.atom(node)}{method}", "method_wraps", weight)


def call_wraps(context: Context) -> Iterator[Edit]:
    """Wrap a value in a usual call."""
    for source, node, place in values(context):
        text = source.text(node)
        kind = context.kinds.of(source, node)
        for call in CALLS:
            if _fits(kind, call):
                yield replace(source, node, f"{call}({text})", "call_wraps", place * _topical(context, call))
        if _fits(kind, "max(0,"):
            weight = 0.8 * place * _topical(context, "max(0,")
            yield replace(source, node, f"max(0, {text})", "call_wraps", weight)


def imported_wraps(context: Context) -> Iterator[Edit]:
    """Wrap a value in a call of a standard module, which is imported where it isn't yet."""
    for source, node, place in values(context):
        fitting = [call for call in IMPORTED if _fits(context.kinds.of(source, node), call)]
        for call in fitting:
            part = Part(source.path, *source.span(node), f"{call}({source.text(node)})")
            parts = (part, *needs_import(source, call.split(".")[0]))
            yield Edit("imported_wraps", source.path, node.lineno, parts, place * _topical(context, call))


_HOLDERS = (ast.Return, ast.Assign, ast.For, ast.Call, ast.Subscript, ast.Compare, ast.BoolOp)


def values(context: Context) -> Iterator[tuple[Source, ast.expr, float]]:
    """Yield values that are returned, assigned, iterated, passed, compared or used as a key."""
    for source, node in context.hot(*_HOLDERS):
        if isinstance(node, ast.Return | ast.Assign) and node.value is not None:
            yield source, node.value, 1.0
        elif isinstance(node, ast.For):
            yield source, node.iter, 1.0
        elif isinstance(node, ast.Call):
            for item in node.args:
                if not isinstance(item, ast.Starred | ast.Constant | ast.GeneratorExp):
                    yield source, item, 0.7
        elif isinstance(node, ast.Subscript) and not isinstance(
            node.slice, ast.Slice | ast.Constant | ast.Tuple
        ):
            yield source, node.slice, 0.7
        elif isinstance(node, ast.Compare):
            for item in (node.left, *node.comparators):
                if not isinstance(item, ast.Constant):
                    yield source, item, 0.6
        elif isinstance(node, ast.BoolOp):
            for item in node.values:
                if isinstance(item, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
                    yield source, item, 0.9


def twin_wraps(context: Context) -> Iterator[Edit]:
    """Wrap both sides of a comparison, or the first two arguments of a call, in the same way."""
    for source, node in context.hot(ast.Compare, ast.Call):
        items = [node.left, *node.comparators] if isinstance(node, ast.Compare) else node.args
        if len(items) != 2 or any(
            isinstance(item, ast.Constant | ast.Starred | ast.GeneratorExp) for item in items
        ):
            continue
        kinds = [context.kinds.of(source, item) for item in items]
        for method in METHODS[:5]:
            if not all(_fits(kind, method) for kind in kinds):
                continue
            parts = tuple(Part(source.path, *source.span(item), source.atom(item) + method) for item in items)
            yield Edit("twin_wraps", source.path, node.lineno, parts, _topical(context, method))
        for call in CALLS:
            if not all(_fits(kind, call) for kind in kinds):
                continue
            parts = tuple(
                Part(source.path, *source.span(item), f"{call}({source.text(item)})") for item in items
            )
            yield Edit("twin_wraps", source.path, node.lineno, parts, 0.6 * _topical(context, call))


OPERATORS = (
    (unwraps, 0.5),
    (method_wraps, 0.7),
    (call_wraps, 0.6),
    (imported_wraps, 0.45),
    (twin_wraps, 0.8),
)
