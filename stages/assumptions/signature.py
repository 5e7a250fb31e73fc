"""Signatures as they are written: parameters in order, with kind, default and annotation."""

from __future__ import annotations

import ast
from typing import Literal, NamedTuple

from stages.assumptions.source import Unreadable, parse_text
from stages.contract.errors import InputError

Kind = Literal["positional-only", "positional", "*", "keyword-only", "**"]


class Parameter(NamedTuple):
    name: str
    kind: Kind
    default: ast.expr | None
    annotation: ast.expr | None
    line: int

    @property
    def required(self) -> bool:
        return self.default is None and self.kind not in ("*", "**")


def signature(text: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """Read `(a: int) -> str`, with `async`, `def name` or both before it. Raises InputError."""
    words = text.strip()
    is_async = words.startswith("async ")
    words = words.removeprefix("async ").strip().removeprefix("def ").strip().rstrip(":")
    head = "async def" if is_async else "def"
    try:
        tree = parse_text(f"{head} _{words[max(words.find('('), 0) :]}: ...\n")
        (node,) = tree.body
    except (Unreadable, ValueError):
        node = None
    names = [p.name for p in parameters(node.args)] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or len(set(names)) < len(names):
        raise InputError("interface.signature", repr(text), "a signature such as `(a: int, b: str = '') -> bool`")
    return node


def parameters(args: ast.arguments) -> list[Parameter]:
    found: list[Parameter] = []
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    for i, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
        kind: Kind = "positional-only" if i < len(args.posonlyargs) else "positional"
        found.append(Parameter(arg.arg, kind, default, arg.annotation, arg.lineno))
    if args.vararg:
        found.append(Parameter(args.vararg.arg, "*", None, args.vararg.annotation, args.vararg.lineno))
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(Parameter(arg.arg, "keyword-only", default, arg.annotation, arg.lineno))
    if args.kwarg:
        found.append(Parameter(args.kwarg.arg, "**", None, args.kwarg.annotation, args.kwarg.lineno))
    return found


def starred(parameter: Parameter) -> str:
    return f"{parameter.kind}{parameter.name}" if parameter.kind in ("*", "**") else parameter.name
