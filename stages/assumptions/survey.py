"""One pass over a Python module: every node with its scope and circumstances, every name with its bindings.

Nothing here recurses: a hostile source may be as deep as `source.MAX_DEPTH`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from stages.assumptions.nodes import fields
from stages.assumptions.scopes import BINDING, Binding, Lines, Scope, bind, span, targets

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_STRINGS = tuple(
    kind for kind in (ast.JoinedStr, getattr(ast, "TemplateStr", None)) if kind is not None
)  # inside them positions differ between interpreters


_TRIES = (ast.Try, *((ast.TryStar,) if hasattr(ast, "TryStar") else ()))
_APART = frozenset((*_FUNCTIONS, *_COMPREHENSIONS, *_STRINGS, *_TRIES, ast.ClassDef, ast.If, ast.AnnAssign))
_TELLING = frozenset((
    ast.Module, ast.Import, ast.ImportFrom, ast.Constant, ast.Call, ast.Name, ast.Attribute, ast.Subscript
))  # fmt: skip


class Visit(NamedTuple):
    """A node, where it stands, and what stands around it."""

    node: ast.AST
    scope: Scope
    guarded: bool  # in a try that catches the lack of an import
    typing_only: bool  # under TYPE_CHECKING
    annotation: bool
    at: Lines | None  # lines to report instead of the node's own


class Survey(NamedTuple):
    """`visits` are those of nodes that can tell something: the module, imports, texts, names that are used."""

    visits: list[Visit]
    parents: dict[ast.AST, ast.AST]
    top: Scope


def survey(tree: ast.Module, path: str, top: Scope | None = None, at: Lines | None = None) -> Survey:
    """Visits in document order. `top` and `at` serve code inside code: the scope that it runs in and the
    lines to report."""
    top = top or Scope("module", None, path)
    visits: list[Visit] = []
    parents: dict[ast.AST, ast.AST] = {}
    stack = [Visit(tree, top, False, False, False, at)]
    while stack:
        visit = stack.pop()
        node = visit.node
        kind = type(node)
        if kind in _TELLING and (kind is not ast.Name or type(node.ctx) is ast.Load):  # type: ignore[attr-defined]
            visits.append(visit)
        if kind in BINDING:
            bind(node, visit.scope, visit.at)
        below = list(_children(visit)) if kind in _APART else _plain(visit)
        for child in below:
            parents[child[0]] = node
        below.reverse()
        stack += below
    return Survey(visits, parents, top)


def _plain(visit: Visit) -> list[Visit]:
    """Visits of all nodes directly below, under the same circumstances."""
    node, around = visit[0], visit[1:]
    found: list[Visit] = []
    for name in fields(type(node)):
        value = getattr(node, name, None)
        if type(value) is list:
            found += [Visit(child, *around) for child in value if isinstance(child, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(Visit(value, *around))
    return found


def _children(visit: Visit) -> Iterator[Visit]:
    node, scope = visit.node, visit.scope
    if isinstance(node, _STRINGS) and visit.at is None:
        visit = visit._replace(at=(node.lineno, node.end_lineno or node.lineno))
    if isinstance(node, _FUNCTIONS):
        yield from _function(visit, node)
    elif isinstance(node, ast.ClassDef):
        inner = Scope("class", scope, scope.path)
        for child in (*node.decorator_list, *node.bases, *node.keywords):
            yield visit._replace(node=child)
        for statement in node.body:
            yield visit._replace(node=statement, scope=inner)
    elif isinstance(node, _COMPREHENSIONS):
        inner = Scope("comprehension", scope, scope.path)
        for i, generator in enumerate(node.generators):
            outer = scope if i == 0 else inner
            targets(inner, generator.target, None, generator.iter, outer, span(generator.target, visit.at))
            yield visit._replace(node=generator.iter, scope=outer)
            for child in (generator.target, *generator.ifs):
                yield visit._replace(node=child, scope=inner)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        for part in parts:
            yield visit._replace(node=part, scope=inner)
    elif isinstance(node, _TRIES):
        guarded = visit.guarded or any(_catches(handler) for handler in node.handlers)
        for name, group in ast.iter_fields(node):
            for child in group:
                # the fallback in the handler is as optional as what it replaces
                yield visit._replace(node=child, guarded=guarded if name in ("body", "handlers") else visit.guarded)
    elif isinstance(node, ast.If):
        yield visit._replace(node=node.test)
        typing_only = visit.typing_only or _is_type_checking(node.test)
        for statement in node.body:
            yield visit._replace(node=statement, typing_only=typing_only)
        for statement in node.orelse:
            yield visit._replace(node=statement)
    elif isinstance(node, ast.AnnAssign):
        yield visit._replace(node=node.target)
        yield visit._replace(node=node.annotation, annotation=True)
        if node.value is not None:
            yield visit._replace(node=node.value)
    else:
        yield from _plain(visit)


def _function(visit: Visit, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[Visit]:
    inner = Scope("function", visit.scope, visit.scope.path, node)
    arguments = node.args
    if not isinstance(node, ast.Lambda):
        for decorator in node.decorator_list:
            yield visit._replace(node=decorator)
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs: list[tuple[ast.arg, ast.expr | None]] = [(arg, None) for arg in positional]
    for i, default in enumerate(reversed(arguments.defaults), 1):
        pairs[-i] = (positional[-i], default)
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    pairs += [(arg, None) for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    for arg, given in pairs:
        inner.bind(arg.arg, Binding("unknown", "", None, inner, span(arg, visit.at)))
        if arg.annotation is not None:
            yield visit._replace(node=arg.annotation, annotation=True)
        if given is not None:
            inner.bind(arg.arg, Binding("value", "", given, visit.scope, span(given, visit.at)))
            yield visit._replace(node=given)
    if isinstance(node, ast.Lambda):
        yield visit._replace(node=node.body, scope=inner)
        return
    if node.returns is not None:
        yield visit._replace(node=node.returns, annotation=True)
    for statement in node.body:
        yield visit._replace(node=statement, scope=inner)


def _catches(handler: ast.ExceptHandler) -> bool:
    caught = handler.type
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(
        kind is None
        or (
            isinstance(kind, ast.Name)
            and kind.id in ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
        )
        for kind in kinds
    )


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )
