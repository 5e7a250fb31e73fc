"""Operators on arguments: their number, their keywords, usual options."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from common.context import Context
from common.edits import Edit, Part, replace
from common.source import Function, Source, last_name, parameters


def dropped_arguments(context: Context) -> Iterator[Edit]:
    """Leave out an argument or a keyword of a call."""
    for source, node in context.hot(ast.Call):
        items: list[ast.AST] = [*node.args, *node.keywords]
        for number, item in enumerate(items):
            start, end = source.span(item)
            if number:
                start = source.span(items[number - 1])[1]
            elif len(items) > 1:
                end = source.span(items[1])[0]
            weight = 1.0 if isinstance(item, ast.keyword) else 0.5
            yield Edit(
                "dropped_arguments", source.path, node.lineno, (Part(source.path, start, end, ""),), weight
            )


def keywords(context: Context) -> Iterator[Edit]:
    """Pass a parameter that a call leaves at its default, from a name in scope or an attribute of one."""
    for source, node in context.hot(ast.Call):
        target = node.func
        name = last_name(target)
        for function in _callees(context, name):
            given = {item.arg for item in node.keywords}
            free = [item for item in parameters(function)[len(node.args) :] if item not in given]
            for parameter in free:
                for value, weight in _values(context, source, node, parameter):
                    yield _added(source, node, f"{parameter}={value}", "keywords", weight)


def _callees(context: Context, name: str) -> list[Function]:
    found = [function for _, function in context.defined.get(name, ())]
    for source in context.project.code():
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                found += [
                    item for item in node.body if isinstance(item, Function) and item.name == "__init__"
                ]
    return found


def _values(context: Context, source: Source, node: ast.AST, parameter: str) -> Iterator[tuple[str, float]]:
    names = context.names_at(source, node)
    if parameter in names:
        yield parameter, 1.5
    fields, _ = context.attributes_of(source.class_of(node))
    for field in fields:
        if field.lstrip("_") == parameter:
            yield f"self.{field}", 1.5
    for name in names:
        if name != parameter:
            yield name, 0.4
            yield f"{name}.{parameter}", 0.4
    for constant in ("True", "False", "None"):
        yield constant, 0.4


def _added(source: Source, call: ast.Call, text: str, operator: str, weight: float) -> Edit:
    items: list[ast.AST] = [*call.args, *call.keywords]
    at = source.span(items[-1])[1] if items else source.span(call)[1] - 1
    part = Part(source.path, at, at, f", {text}" if items else text)
    return Edit(operator, source.path, call.lineno, (part,), weight)


def options(context: Context) -> Iterator[Edit]:
    """Add or change a usual option of a well-known function."""
    for source, node in context.hot(ast.Call):
        target = node.func
        name = last_name(target)
        given = {item.arg for item in node.keywords}
        for option in _OPTIONS.get(name, ()):
            if option.split("=")[0] not in given and not any(
                isinstance(item, ast.GeneratorExp) for item in node.args
            ):
                yield _added(source, node, option, "options", 0.7)
        if name in ("sorted", "sort", "min", "max") and "key" not in given:
            for key in ("str.lower", "len", "str.casefold"):
                yield _added(source, node, f"key={key}", "options", 0.5)
        if name in ("split", "rsplit", "splitlines") and len(node.args) == 1 and not given:
            yield _added(source, node, "1", "options", 0.9)
            yield replace(source, node, f"{source.text(target)}()", "options", 0.8)
        if name in ("get", "pop", "getattr", "next") and len(node.args) == (2 if name == "getattr" else 1):
            for value in ("0", "None", '""', "[]", "{}", "False"):
                yield _added(source, node, value, "options", 0.6)
        if name == "pop" and not node.args:
            yield _added(source, node, "0", "options", 1.0)
        if name == "range" and len(node.args) == 1:
            yield replace(source, node.args[0], f"1, {source.text(node.args[0])} + 1", "options", 0.7)
            yield replace(source, node.args[0], f"1, {source.text(node.args[0])}", "options", 0.7)
        if name == "enumerate" and len(node.args) == 1:
            yield _added(source, node, "1", "options", 0.9)


_OPTIONS = {
    "sorted": ("reverse=True",),
    "sort": ("reverse=True",),
    "max": ("default=0", "default=None"),
    "min": ("default=0", "default=None"),
    "dumps": ("sort_keys=True", "ensure_ascii=False"),
    "zip": ("strict=True",),
    "split": (),
}

OPERATORS = ((dropped_arguments, 0.45), (keywords, 0.8), (options, 0.7))
