"""Operators that follow the error of a failing test: unknown names, attributes, keywords, wrong types."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from common.context import Context
from common.edits import Edit, Part, needs_import, replace
from common.source import Function, Source, parameters
from interfaces import parameter_part
from names import likeness

_QUOTED = re.compile(r"'([^']+)'")


def _sites(context: Context, kind: str) -> Iterator[tuple[str, list[str], Source, int]]:
    """Yield (message, quoted names, file, line) of the errors of one kind, innermost frame first."""
    for result in context.failures:
        if result.error != kind:
            continue
        for path, line in reversed(result.places):
            if path in context.levels and path in context.project.sources:
                yield result.message, _QUOTED.findall(result.message), context.project.sources[path], line


def unknown_names(context: Context) -> Iterator[Edit]:
    """Import an unknown name that is a module, take a field of `self`, or a name that is alike."""
    for _, quoted, source, line in _sites(context, "NameError"):
        for node in source.nodes:
            if not isinstance(node, ast.Name) or node.id not in quoted or node.lineno != line:
                continue
            if node.id in sys.stdlib_module_names:
                yield Edit("unknown_names", source.path, line, needs_import(source, node.id), 2.0)
            for other, functions in context.defined.items():
                if other == node.id and functions[0][0].path != source.path:
                    module = functions[0][0].path.removesuffix(".py").replace("/", ".")
                    part = Part(source.path, 0, 0, f"from {module} import {node.id}\n")
                    yield Edit("unknown_names", source.path, line, (part,), 1.5)
            fields, methods = context.attributes_of(source.class_of(node))
            for name in (*fields, *methods):
                if name.lstrip("_") == node.id:
                    yield replace(source, node, f"self.{name}", "unknown_names", 2.0)
            for name in (*context.names_at(source, node), *context.globals_of(source)):
                yield replace(source, node, name, "unknown_names", 0.3 + likeness(node.id, name))


def unknown_attributes(context: Context) -> Iterator[Edit]:
    """Use an attribute that is alike, here or wherever the same attribute is used."""
    known = [
        context.attributes_of(node)
        for s in context.project.code()
        for node in s.nodes
        if isinstance(node, ast.ClassDef)
    ]
    names = dict.fromkeys(name for fields, methods in known for name in (*fields, *methods))
    names |= dict.fromkeys(name for name, kind in _tops(context) if kind)
    names |= dict.fromkeys(sorted(context.hints.names))
    for _, quoted, source, line in _sites(context, "AttributeError"):
        for node in source.nodes:
            if not isinstance(node, ast.Attribute) or node.attr not in quoted[-1:] or node.lineno != line:
                continue
            for name in names:
                if name != node.attr and not name.startswith("__"):
                    text = f"{source.text(node.value)}.{name}"
                    yield replace(source, node, text, "unknown_attributes", 0.3 + likeness(node.attr, name))
                    if likeness(node.attr, name) > 0.4:
                        yield _everywhere(context, node.attr, name)
            yield replace(source, node, source.text(node.value), "unknown_attributes", 0.5)
            yield replace(
                source, node, f'{source.text(node.value)}["{node.attr}"]', "unknown_attributes", 0.5
            )


def _tops(context: Context) -> Iterator[tuple[str, str]]:
    for source in context.project.code():
        yield from context.globals_of(source).items()


def _everywhere(context: Context, old: str, new: str) -> Edit:
    parts = [
        Part(source.path, source.span(node)[1] - len(old.encode()), source.span(node)[1], new)
        for source in context.project.code()
        for node in source.nodes
        if isinstance(node, ast.Attribute) and node.attr == old
    ]
    return Edit("unknown_attributes", "", 0, tuple(parts), 0.5 * likeness(old, new))


def unknown_keywords(context: Context) -> Iterator[Edit]:
    """Rename or leave out a keyword that a function doesn't know, or give the function that parameter."""
    for message, quoted, source, line in _sites(context, "TypeError"):
        if "unexpected keyword" not in message or not quoted:
            continue
        unknown = quoted[-1]
        for node in source.nodes:
            if not isinstance(node, ast.Call) or not node.lineno <= line <= node.end_lineno:
                continue
            for item in node.keywords:
                if item.arg != unknown:
                    continue
                name = message.split("(")[0].rsplit(".", 1)[-1]
                for home, function in context.defined.get(name, ()):
                    for other in parameters(function):
                        text = f"{other}={source.text(item.value)}"
                        yield replace(source, item, text, "unknown_keywords", 0.5 + likeness(unknown, other))
                    yield from _parameter(home, function, unknown)
                yield replace(source, item, source.text(item.value), "unknown_keywords", 0.4)


def _parameter(source: Source, function: Function, name: str) -> list[Edit]:
    """Return the edit that gives a function one more optional parameter."""
    part = parameter_part(source, function, f"{name}=None")
    return [Edit("unknown_keywords", source.path, function.lineno, (part,), 0.6)] if part is not None else []


def wrong_types(context: Context) -> Iterator[Edit]:
    """Convert an operand on the line of a type error, or guard a None."""
    for kind in ("TypeError", "ValueError", "AttributeError", "KeyError", "IndexError"):
        for message, _, source, line in _sites(context, kind):
            for node in source.nodes:
                if (
                    not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
                    or node.lineno != line
                ):
                    continue
                if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                    continue
                text = source.text(node)
                if "NoneType" in message:
                    yield replace(source, node, f"({text} or [])", "wrong_types", 0.6)
                    yield replace(source, node, f"({text} or 0)", "wrong_types", 0.6)
                elif kind == "TypeError":
                    for call in ("int", "str", "list", "float", "tuple", "len"):
                        yield replace(source, node, f"{call}({text})", "wrong_types", 0.6)


OPERATORS = ((unknown_names, 1.5), (unknown_attributes, 1.2), (unknown_keywords, 1.3), (wrong_types, 0.7))
