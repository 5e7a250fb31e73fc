"""Scopes of a module and how the names in them come by their values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Form = Literal["module", "value", "each", "definition", "unknown"]
Lines = tuple[int, int]
BINDING = frozenset((
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign,
    ast.NamedExpr, ast.AugAssign, ast.For, ast.AsyncFor, ast.withitem, ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
    ast.MatchMapping, ast.Global, ast.Nonlocal,
))  # fmt: skip
"""Nodes that `bind` has something to record of."""


class Binding(NamedTuple):
    """How a name gets its value: a dotted `module`, an expression's `value`, `each` of an iterable,
    a `definition`, or `unknown`. Lines are those of the binding statement."""

    form: Form
    name: str
    value: ast.expr | None
    scope: Scope
    lines: Lines


@dataclass(eq=False)
class Scope:
    kind: Literal["module", "class", "function", "comprehension"]
    parent: Scope | None
    path: str
    node: ast.AST | None = None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, Scope] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    def bind(self, target: str, binding: Binding) -> None:
        home = self
        while home.kind == "comprehension" and binding.form == "value" and home.parent is not None:
            home = home.parent  # a walrus binds outside the comprehension
        home.elsewhere.get(target, home).names.setdefault(target, []).append(binding)

    def chain(self) -> Iterator[Scope]:
        """The scopes in which a name that is used here is looked up."""
        yield self
        scope = self.parent
        while scope is not None:
            if scope.kind != "class":
                yield scope
            scope = scope.parent


def relative(path: str, level: int, module: str | None) -> str:
    """A relative import in the file at `path` as a name from the workspace's root: a dot before it, or two
    where it leaves the root."""
    parts = path.split("/")[:-1]
    if level - 1 > len(parts):
        return ".." + (module or "")
    return "." + ".".join([*parts[: len(parts) - (level - 1)], *([module] if module else [])])


def join(module: str, name: str) -> str:
    return f"{module}.{name}" if module.strip(".") else f"{module}{name}"


def span(node: ast.AST, within: Lines | None = None) -> Lines:
    """First and last line of a node, 0 where it has none; `within` if given."""
    if within is not None:
        return within
    first: int = getattr(node, "lineno", 0)
    return first, getattr(node, "end_lineno", None) or first


def bind(node: ast.AST, scope: Scope, within: Lines | None) -> None:
    """Record what a statement or expression binds in its scope. `within` stands for its lines if given."""
    at = span(node, within)
    if isinstance(node, ast.Import):
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            scope.bind(alias.asname or name, Binding("module", name, None, scope, span(alias, within)))
    elif isinstance(node, ast.ImportFrom):
        module = relative(scope.path, node.level, node.module) if node.level else node.module or ""
        for alias in node.names:
            if alias.name == "*":
                scope.stars.append(module)
            else:
                name = join(module, alias.name)
                scope.bind(alias.asname or alias.name, Binding("module", name, None, scope, at))
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        scope.bind(node.name, Binding("definition", node.name, None, scope, at))
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            targets(scope, target, node.value, None, scope, at)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        targets(scope, node.target, node.value, None, scope, at)
    elif isinstance(node, ast.AugAssign):
        targets(scope, node.target, None, None, scope, at)
    elif isinstance(node, ast.For | ast.AsyncFor):
        targets(scope, node.target, None, node.iter, scope, span(node.target, within))
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        targets(scope, node.optional_vars, None, None, scope, span(node.optional_vars, within))
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        scope.bind(node.name, Binding("unknown", "", None, scope, at))
    elif isinstance(node, ast.MatchMapping) and node.rest:
        scope.bind(node.rest, Binding("unknown", "", None, scope, at))
    elif isinstance(node, ast.Global | ast.Nonlocal):
        outer = [s for s in scope.chain() if s is not scope and s.kind != "comprehension"]
        if outer:
            home = outer[-1] if isinstance(node, ast.Global) else outer[0]
            scope.elsewhere.update(dict.fromkeys(node.names, home))


def targets(
    scope: Scope, target: ast.expr, value: ast.expr | None, each: ast.expr | None, outer: Scope, at: Lines
) -> None:
    """Bind the names of an assignment's target. Sequences are paired off where both sides are written out."""
    stack = [(target, value, each)]
    while stack:
        to, of, over = stack.pop()
        if isinstance(to, ast.Name):
            form: Form = "value" if of is not None else "each" if over is not None else "unknown"
            scope.bind(to.id, Binding(form, "", of if of is not None else over, outer, at))
        elif isinstance(to, ast.Starred):
            stack.append((to.value, None, None))
        elif isinstance(to, ast.Tuple | ast.List):
            values: list[ast.expr | None] = [None] * len(to.elts)
            parts = of.elts if isinstance(of, ast.Tuple | ast.List) else []
            if len(parts) == len(to.elts) and not any(isinstance(e, ast.Starred) for e in (*to.elts, *parts)):
                values = list(parts)
            stack += [(part, v, None) for part, v in zip(to.elts, values, strict=True)]
