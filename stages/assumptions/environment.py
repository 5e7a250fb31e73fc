"""What a file reads from the environment: keys where they can be known, escapes and opaque keys where not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stages.assumptions.constants import elements, texts
from stages.assumptions.scopes import Lines
from stages.assumptions.seen import Called, Place, Seen, written
from stages.assumptions.tables import ENV_READS, ENV_WRITES

_VARIABLE = re.compile(r"\$(?:(\w+)|\{([^}]*)\})", re.ASCII)
_PROC = re.compile(r"/proc/(?:self|thread-self|\d+)/environ")


def key(place: Place, expr: ast.expr | None, lines: Lines, origin: str, how: str, fresh: bool) -> Iterator[Seen]:
    """A read of each text that the key can be, or an opaque one."""
    found = texts(place.names, expr, place.scope) if expr is not None else None
    if not found:
        yield Seen("opaque", origin, f"{how}, key unknown", lines, fresh)
        return
    worked_out = "" if isinstance(expr, ast.Constant) else ", key worked out"
    for text, touched in found.items():
        yield Seen("environment", text, how + worked_out, lines, fresh or touched, True)


def call(place: Place, origin: str, fresh: bool, made: Called) -> Iterator[Seen]:
    """Calls of readers and writers, `os.path.expandvars`, options that name a variable."""
    how = f"{origin}(...){written(made.function, origin)}"
    if origin in ENV_READS:
        expr = made.argument(0, "key")
        yield from key(place, expr, place.lines(made.function, expr), origin, how, fresh)
    elif origin in ENV_WRITES:
        yield Seen("env_write", _written_key(place, made) or origin, how, place.lines(), fresh)
    elif origin == "os.path.expandvars" and made.given:
        expr = made.argument(0, "path")
        found = texts(place.names, expr, place.scope) if expr is not None else None
        if found is None:
            yield Seen("opaque", origin, f"{how}, text unknown", place.lines(), fresh)
        for text, touched in (found or {}).items():
            for plain, braced in _VARIABLE.findall(text):
                yield Seen("environment", plain or braced, how, place.lines(), fresh or touched, True)
    elif origin.split(".")[0] in ("click", "typer") and "envvar" in made.keywords:
        expr = made.keywords["envvar"]
        for item, scope in elements(place.names, expr, place.scope) or [(expr, place.scope)]:
            for text, touched in (texts(place.names, item, scope) or {}).items():
                yield Seen("environment", text, f"{origin}(envvar=...)", place.lines(expr), fresh or touched, True)


def whole(place: Place, origin: str, fresh: bool) -> Iterator[Seen]:
    """What is done with `os.environ` itself, from the node that stands for it outwards."""
    node = place.visit.node
    assert isinstance(node, ast.expr)
    spelled = written(node, origin)
    inner, outer = carried(place, node)
    if tracked(place, inner, outer):
        return
    if isinstance(outer, ast.Attribute):
        method = f"{origin}.{outer.attr}"
        if method in ENV_READS | ENV_WRITES:
            return  # seen at the call, or where it is handed on
        yield Seen("env_escape", origin, f"{method}{spelled}", place.lines(), fresh)
    elif isinstance(outer, ast.Subscript) and outer.value is inner:
        how = f"{origin}[...]{spelled}"
        above = place.parents.get(outer)
        if isinstance(outer.ctx, ast.Load) or (isinstance(above, ast.AugAssign) and above.target is outer):
            yield from key(place, outer.slice, place.lines(outer), origin, how, fresh)
        else:
            found = texts(place.names, outer.slice, place.scope)
            yield Seen("env_write", "|".join(found or [origin]), how, place.lines(outer), fresh)
    elif isinstance(outer, ast.Compare) and (left := _sought(outer, inner)) is not None:
        how = f"... in {origin}{spelled}"
        yield from key(place, left, place.lines(left, inner), origin, how, fresh)
    elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield Seen("env_write", origin, "the environment replaced", place.lines(), fresh)
    else:
        yield Seen("env_escape", origin, f"handed on whole{spelled}", place.lines(), fresh)


def proc(place: Place) -> Iterator[Seen]:
    """Texts that name a process's environment file, docstrings aside."""
    node = place.visit.node
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        found = _PROC.search(text[:10_000]) if "/proc/" in text else None
        if found and not isinstance(place.parents.get(node), ast.Expr):
            yield Seen("env_escape", found[0], "a path in a text", place.lines())


def carried(place: Place, node: ast.expr) -> tuple[ast.expr, ast.AST | None]:
    """The outermost expression that has the node's value, and what stands around it."""
    outer = place.parents.get(node)
    while isinstance(outer, ast.BoolOp | ast.NamedExpr) or (isinstance(outer, ast.IfExp) and outer.test is not node):
        node, outer = outer, place.parents.get(outer)
    return node, outer


def tracked(place: Place, inner: ast.expr, outer: ast.AST | None) -> bool:
    """Whether the value only gets a name that is followed from here on, or is thrown away."""
    if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return inner in outer.args.defaults or inner in outer.args.kw_defaults
    if isinstance(outer, ast.Call):  # getattr(os.environ, "get"), vars(os): followed as expressions
        return outer.args[:1] == [inner] and bool(
            {"builtins.getattr", "builtins.vars"} & place.names.origins(outer.func, place.scope).keys()
            and place.names.origins(outer, place.scope)
        )
    if isinstance(outer, ast.Expr):
        return True
    targets: list[ast.expr] = []
    if isinstance(outer, ast.Tuple | ast.List):
        above = place.parents.get(outer)
        if isinstance(above, ast.Assign):
            for target in above.targets:
                if not isinstance(target, ast.Tuple | ast.List) or len(target.elts) != len(outer.elts):
                    return False
                if any(isinstance(e, ast.Starred) for e in (*target.elts, *outer.elts)):
                    return False
                targets.append(target.elts[outer.elts.index(inner)])
    elif isinstance(outer, ast.Assign) and outer.value is inner:
        targets = outer.targets
    elif isinstance(outer, ast.AnnAssign) and outer.value is inner:
        targets = [outer.target]
    return bool(targets) and place.scope.kind != "class" and all(isinstance(t, ast.Name) for t in targets)


def _sought(compare: ast.Compare, container: ast.expr) -> ast.expr | None:
    """The left side of `... in container`."""
    sides = [compare.left, *compare.comparators]
    for left, operator, right in zip(sides, compare.ops, compare.comparators, strict=False):
        if right is container and isinstance(operator, ast.In | ast.NotIn):
            return left
    return None


def _written_key(place: Place, made: Called) -> str:
    expr = made.argument(0, "key")
    found = texts(place.names, expr, place.scope) if expr is not None else None
    return "|".join(found or [])
