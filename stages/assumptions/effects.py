"""Calls that reach past the contract in other ways: dynamic imports, code from text, programs, sockets."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stages.assumptions import environment
from stages.assumptions.constants import texts
from stages.assumptions.scopes import relative
from stages.assumptions.seen import Called, Place, Seen, called, written
from stages.assumptions.tables import (
    CARRIERS,
    CODE,
    ENV_READS,
    ENV_WRITES,
    EXEC,
    HANDED_ON,
    IMPORT_STATE,
    IMPORTERS,
    LOADERS,
    NATIVE,
    SHELL,
    SOCKET,
)

Made = tuple[str, bool, Called]
_TOLD = IMPORTERS | LOADERS | SHELL | SOCKET | NATIVE | CODE | ENV_READS | ENV_WRITES
_TOLD |= {"builtins.getattr", "os.path.expandvars"}


def calls(place: Place, call: ast.Call) -> Iterator[Made]:
    """Every origin that a call can have, whether it is fresh, and the parts of the call."""
    origins = place.names.origins(call.func, place.scope)
    yield from ((origin, fresh, called(call, call.func, call.args)) for origin, fresh in origins.items())
    if not CARRIERS.isdisjoint(origins) and call.args:
        inner = place.names.origins(call.args[0], place.scope)
        yield from ((origin, fresh, called(call, call.args[0], call.args[1:])) for origin, fresh in inner.items())


def seen(place: Place, origin: str, fresh: bool, made: Called) -> Iterator[Seen]:
    """What a call of this origin does."""
    if origin not in _TOLD and not origin.startswith(("click.", "typer.")):
        return
    how = f"{origin}(...){written(made.function, origin)}"
    if origin in IMPORTERS:
        yield from _imported(place, origin, fresh, made, how)
    elif origin in LOADERS:
        symbol = origin.rpartition(".")[0] if origin.startswith("sys.") else origin
        yield Seen("dynamic_import", symbol, how, place.lines(), fresh)
    elif origin in SHELL:
        yield from _program(place, origin, fresh, made, how)
    elif origin in SOCKET:
        yield Seen("socket", origin, how, place.lines(), fresh, True)
    elif origin in NATIVE:
        expr = made.argument(0, "name")
        library = texts(place.names, expr, place.scope) if expr is not None else None
        for text in library or [origin]:
            yield Seen("native", text, how, place.lines(), fresh, library is not None)
    elif origin in CODE:
        yield Seen("exec", origin, how, place.lines(), fresh)
    elif origin == "builtins.getattr" and len(made.args) > 1:
        spaces = place.names.origins(made.args[0], place.scope)
        if {"os", "builtins", "sys"} & spaces.keys() and not texts(place.names, made.args[1], place.scope):
            space = min({"os", "builtins", "sys"} & spaces.keys())
            yield Seen("opaque", space, f"{how}, name unknown", place.lines(), fresh)
    else:
        yield from environment.call(place, origin, fresh, made)


def code(place: Place, origin: str, made: Called) -> tuple[list[str], bool]:
    """The constant sources that a call of exec, eval or compile runs, and whether that is all of them."""
    if origin not in EXEC:
        return [], True
    expr = made.argument(0, "source")
    if isinstance(expr, ast.Call) and "builtins.compile" in place.names.origins(expr.func, place.scope):
        return [], True  # seen at the inner call
    found = texts(place.names, expr, place.scope) if expr is not None else None
    return [text.strip(" \t") if origin == "builtins.eval" else text for text in found or []], found is not None


def handed_on(place: Place, origins: dict[str, bool]) -> Iterator[Seen]:
    """Functions that are passed on uncalled to where they aren't followed."""
    counted = [origin for origin in origins if origin in HANDED_ON]
    node = place.visit.node
    if not counted or place.visit.annotation or not isinstance(node, ast.expr):
        return
    inner, outer = environment.carried(place, node)
    if isinstance(outer, ast.Attribute) or environment.tracked(place, inner, outer):
        return
    if isinstance(outer, ast.Call):
        carries = not CARRIERS.isdisjoint(place.names.origins(outer.func, place.scope))
        if outer.func is inner or (carries and outer.args[:1] == [inner]):
            return
    for origin in counted:
        how = f"handed on{written(node, origin)}"
        yield Seen(HANDED_ON[origin], origin, how, place.lines(), origins[origin])


def stored(place: Place, node: ast.Attribute | ast.Subscript) -> Iterator[Seen]:
    """Assignments and deletions that change how imports work."""
    of = node if isinstance(node, ast.Attribute) else node.value
    for origin, fresh in place.names.origins(of, place.scope).items():
        if origin in IMPORT_STATE:
            yield Seen("dynamic_import", origin, "assigned to or deleted from", place.lines(), fresh)


def _imported(place: Place, origin: str, fresh: bool, made: Called, how: str) -> Iterator[Seen]:
    expr = made.argument(0, "name", "mod_name", "modname", "fullname")
    found = texts(place.names, expr, place.scope) if expr is not None else None
    if not found:
        yield Seen("dynamic_import", origin, f"{how}, module unknown", place.lines(), fresh)
    for text, touched in (found or {}).items():
        name = text.partition(":")[0]
        level = len(name) - len(name.lstrip("."))
        if level:
            name = _anchored(place, made.argument(1, "package"), level, name[level:])
        if name:
            yield Seen("import", name, f"dynamic, {how}", place.lines(), fresh or touched, True)
        else:
            yield Seen("dynamic_import", origin, f"{how}, package unknown", place.lines(), fresh or touched)


def _anchored(place: Place, package: ast.expr | None, level: int, rest: str) -> str:
    """A relative name with the package that it starts from; empty where that can't be known."""
    if isinstance(package, ast.Name) and package.id == "__package__":
        return relative(place.scope.path, level, rest or None)
    found = texts(place.names, package, place.scope) if package is not None else None
    if not found or len(found) > 1:
        return ""
    parts = next(iter(found)).split(".")
    return ".".join([*parts[: len(parts) - (level - 1)], *([rest] if rest else [])]) if level <= len(parts) else ""


def _program(place: Place, origin: str, fresh: bool, made: Called, how: str) -> Iterator[Seen]:
    """What is started: the first word of a constant command, else the function that starts it."""
    expr = made.argument(1 if origin.startswith("os.spawn") else 0, "args", "cmd", "command", "program", "path", "file")
    if isinstance(expr, ast.List | ast.Tuple) and expr.elts and not isinstance(expr.elts[0], ast.Starred):
        expr = expr.elts[0]
    found = texts(place.names, expr, place.scope) if expr is not None else None
    if expr is not None and not found and "sys.executable" in place.names.origins(expr, place.scope):
        found = {"sys.executable": False}
    if not found:
        yield Seen("shell", origin, f"{how}, program unknown", place.lines(), fresh)
    for text, touched in (found or {}).items():
        words = text.split()
        yield Seen("shell", words[0] if words else origin, how, place.lines(), fresh or touched, bool(words))
