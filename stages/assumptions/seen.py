"""What a file is seen to do, before anyone asks whether it may."""

from __future__ import annotations

import ast
from typing import NamedTuple

from stages.assumptions.names import Names
from stages.assumptions.scopes import Lines, Scope, span
from stages.assumptions.survey import Visit


class Seen(NamedTuple):
    """`member` is the name that a from-import takes. `fresh`: the patch touched how the name comes about,
    if not the lines themselves. `known`: the symbol says it all, so the same symbol elsewhere is the same."""

    kind: str
    symbol: str
    how: str
    lines: Lines
    fresh: bool = False
    known: bool = False
    member: str = ""


class Place(NamedTuple):
    """A visit with what is needed to follow names from it."""

    names: Names
    parents: dict[ast.AST, ast.AST]
    visit: Visit

    @property
    def scope(self) -> Scope:
        return self.visit.scope

    def lines(self, first: ast.AST | None = None, last: ast.AST | None = None) -> Lines:
        """The visit's lines, or those from one node to another."""
        begin, end = span(first or self.visit.node, self.visit.at)
        return begin, max(end, span(last, self.visit.at)[1]) if last is not None else end


class Called(NamedTuple):
    """A call's parts; those of the inner call where `functools.partial` and its like carry one."""

    function: ast.expr
    args: list[ast.expr]
    keywords: dict[str, ast.expr]

    def argument(self, index: int, *keywords: str) -> ast.expr | None:
        """An argument by position or keyword; a star before it makes the position unknown."""
        for keyword in keywords:
            if keyword in self.keywords:
                return self.keywords[keyword]
        before = self.args[: index + 1]
        if len(before) <= index or any(isinstance(arg, ast.Starred) for arg in before):
            return None
        return before[index]

    @property
    def given(self) -> bool:
        return bool(self.args or self.keywords)


def called(call: ast.Call, function: ast.expr, args: list[ast.expr]) -> Called:
    return Called(function, args, {k.arg: k.value for k in call.keywords if k.arg is not None})


def written(expr: ast.expr, origin: str) -> str:
    """How the source spells an origin, where it doesn't spell it out: `, written e`."""
    parts: list[str] = []
    while isinstance(expr, ast.Attribute):
        parts.append(expr.attr)
        expr = expr.value
    if not isinstance(expr, ast.Name):
        return ", through an expression"
    spelled = ".".join([expr.id, *reversed(parts)])
    if spelled in (origin, origin.removeprefix("builtins.")):
        return ""
    return f", written {spelled}" if len(spelled) <= 60 else ", under a long name"
