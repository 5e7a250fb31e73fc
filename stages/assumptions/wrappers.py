"""Functions of the tree that read the environment by a key of their caller: one step is followed.

`def setting(name): return os.environ[name]` makes `setting("TOKEN")` a read of TOKEN, in whatever file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from stages.assumptions import effects, environment
from stages.assumptions.names import Names
from stages.assumptions.scopes import Scope, join
from stages.assumptions.seen import Called, Place, Seen
from stages.assumptions.tables import ENV_READS, ENVIRON
from stages.assumptions.workspace import Source, Workspace, placed


class Parameter(NamedTuple):
    position: int  # -1: by keyword only
    name: str
    reads: str


class Wrappers:
    def __init__(self, workspace: Workspace, names: Names) -> None:
        self._workspace, self._names = workspace, names
        self._of: dict[str, dict[str, Parameter]] = {}

    def seen(self, place: Place, origin: str, fresh: bool, made: Called) -> Iterator[Seen]:
        """The key that a call of a wrapper reads, where the call's text says it."""
        if not origin.startswith("."):
            return
        file = self._workspace.locate(origin.rpartition(".")[0])
        if file is None or (top := self._workspace.scope(file)) is None:
            return
        if file not in self._of:
            self._of[file] = {}
            self._of[file] = self._wrappers(self._workspace.source(file), top)
        parameter = self._of[file].get(origin)
        if parameter is not None:
            expr = made.argument(parameter.position, parameter.name) if parameter.position >= 0 else None
            expr = expr if expr is not None else made.keywords.get(parameter.name)
            how = f"{self._workspace.display(origin)}(...), which reads {parameter.reads}"
            lines = place.lines(made.function, expr)
            yield from environment.key(place, expr, lines, parameter.reads, how, fresh)

    def _wrappers(self, source: Source, top: Scope) -> dict[str, Parameter]:
        found: dict[str, Parameter] = {}
        for visit in source.survey.visits:
            if not isinstance(visit.node, ast.Call | ast.Subscript):
                continue
            place = Place(self._names, source.survey.parents, visit)
            if visit.scope.kind == "function" and visit.scope.parent is top:
                for origin, expr in _reads(place):
                    function = visit.scope.node
                    if isinstance(function, ast.FunctionDef) and isinstance(expr, ast.Name):
                        parameter = _parameter(function, expr.id, origin)
                        if parameter is not None and len(visit.scope.names[expr.id]) == 1:
                            found[join(placed(source.path), function.name)] = parameter
        return found


def _reads(place: Place) -> Iterator[tuple[str, ast.expr]]:
    """Reads of the environment at a node: the reader and its key."""
    node = place.visit.node
    if isinstance(node, ast.Call):
        for origin, _, made in effects.calls(place, node):
            expr = made.argument(0, "key")
            if origin in ENV_READS and expr is not None:
                yield origin, expr
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        for origin in sorted(ENVIRON & place.names.origins(node.value, place.scope).keys()):
            yield origin, node.slice


def _parameter(function: ast.FunctionDef, name: str, reads: str) -> Parameter | None:
    positional = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    if name in positional:
        return Parameter(positional.index(name), name, reads)
    keyword = [arg.arg for arg in function.args.kwonlyargs]
    return Parameter(-1, name, reads) if name in keyword else None
