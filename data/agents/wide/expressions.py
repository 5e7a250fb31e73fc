"""Operators on expressions: slices, literals that the statement names, divisions, units."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from common.context import Context
from common.edits import Edit, Part, needs_import, replace
from wraps import values

UNITS = (
    ("60", "minute hour"),
    ("1000", "millisecond kilometre kilogram"),
    ("100", "cent percent"),
    ("3600", "hour"),
    ("7", "week weekday"),
    ("24", "day"),
    ("12", "month"),
)


def slices(context: Context) -> Iterator[Edit]:
    """Open a slice, reverse it, or turn first and last."""
    for source, node in context.hot(ast.Subscript):
        base = source.text(node.value)
        if isinstance(node.slice, ast.Slice):
            lower, upper = (
                source.text(item) if item else "" for item in (node.slice.lower, node.slice.upper)
            )
            shapes = {
                f":{upper}",
                f"{lower}:",
                f"{lower or 1}:{upper}",
                f"{lower}:{upper or -1}",
                f"{upper}:",
                f":{lower}",
            }
            for shape in sorted(shapes - {f"{lower}:{upper}", ":"}):
                yield replace(source, node, f"{base}[{shape}]", "slices")
        elif isinstance(node.slice, ast.Constant) and node.slice.value in (0, 1):
            yield replace(source, node, f"{base}[-1]", "slices")
        elif isinstance(node.slice, ast.UnaryOp):
            yield replace(source, node, f"{base}[0]", "slices")
        elif isinstance(node.ctx, ast.Load):
            for value in ("0", "None", "[]", '""'):
                yield replace(source, node, f"{base}.get({source.text(node.slice)}, {value})", "slices", 0.5)


def literals(context: Context) -> Iterator[Edit]:
    """Put a number or a string that the statement names in place of a literal of the same type."""
    for source, node in context.hot(ast.Constant):
        above = source.parents[node]
        if isinstance(above, ast.Expr | ast.JoinedStr):
            continue
        if isinstance(node.value, str) and len(node.value) <= 40:
            used = {
                item.value
                for item in source.nodes
                if isinstance(item, ast.Constant) and isinstance(item.value, str)
            }
            for text in context.hints.strings:
                if text != node.value:
                    yield replace(source, node, repr(text), "literals", 0.3 if text in used else 0.5)
            if node.value and node.value.strip() != node.value:
                yield replace(source, node, repr(node.value.strip()), "literals", 0.7)
        elif isinstance(node.value, int | float) and not isinstance(node.value, bool):
            for text in context.hints.numbers:
                if text != source.text(node):
                    yield replace(source, node, text, "literals", 0.7)


def divisions(context: Context) -> Iterator[Edit]:
    """Round a division up, to the nearest, or not at all."""
    for source, node in context.hot(ast.BinOp):
        if isinstance(node.op, ast.FloorDiv | ast.Div):
            left, right = source.atom(node.left), source.atom(node.right)
            yield replace(source, node, f"(-(-{left} // {right}))", "divisions", 1.0)
            yield replace(source, node, f"(({left} + {right} // 2) // {right})", "divisions", 0.8)
            yield replace(source, node, f"round({left} / {right})", "divisions", 0.6)
    for source, node in context.hot(ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in ("round", "int") and len(node.args) == 1:
            text = source.text(node.args[0])
            for call in (f"math.floor({text} + 0.5)", f"math.ceil({text})"):
                start, end = source.span(node)
                parts = (Part(source.path, start, end, call), *needs_import(source, "math"))
                yield Edit("divisions", source.path, node.lineno, parts, 0.7)


def units(context: Context) -> Iterator[Edit]:
    """Multiply or divide a value by a factor between units that the statement speaks of, or take the rest."""
    words = {word.rstrip("s") for word in context.hints.words}
    factors = [factor for factor, names in UNITS if words & set(names.split())]
    for source, node, place in values(context):
        if isinstance(node, ast.Constant | ast.Compare | ast.Tuple | ast.List | ast.Dict) or not factors:
            continue
        if context.kinds.of(source, node) not in ("", "int", "float"):
            continue
        for factor in dict.fromkeys(factors):
            for sign in ("*", "/", "//", "%"):
                weight = place * (0.6 if sign in "*/" else 0.4)
                yield replace(source, node, f"{source.atom(node)} {sign} {factor}", "units", weight)


OPERATORS = ((slices, 0.7), (literals, 0.6), (divisions, 0.8), (units, 0.5))
