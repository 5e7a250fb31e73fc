"""Python, read and never run: everything that one file is seen to do."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stages.assumptions import effects, environment
from stages.assumptions.names import Names
from stages.assumptions.scopes import relative, span
from stages.assumptions.seen import Place, Seen
from stages.assumptions.source import Unreadable, parse_text
from stages.assumptions.survey import Survey, Visit, survey
from stages.assumptions.tables import ENVIRON, EXEC, HANDED_ON
from stages.assumptions.workspace import Source
from stages.assumptions.wrappers import Wrappers

_MAX_NESTING = 3
_TELLING = ENVIRON | HANDED_ON.keys()


def read(source: Source, names: Names, wrappers: Wrappers) -> list[Seen]:
    """What the file does, in the order of its text; code in constants is read like the rest."""
    names.begin()
    found: dict[tuple[object, ...], Seen] = {}
    queue = [(source.survey, 0)]
    while queue:
        current, nesting = queue.pop(0)
        for visit in current.visits:
            node = visit.node
            used = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
            if used and _TELLING.isdisjoint(names.origins(node, visit.scope)):  # type: ignore[arg-type]
                continue  # as most names are
            place = Place(names, current.parents, visit)
            calls = list(effects.calls(place, node)) if isinstance(node, ast.Call) else []
            for seen in _seen(place, calls, wrappers):
                if nesting:
                    seen = seen._replace(how=f"{seen.how}, in the text of an exec or eval")
                found.setdefault((seen.kind, seen.symbol, seen.member, seen.lines, seen.how), seen)
            if calls:
                inner, unread = _code(place, calls, nesting)
                queue += [(text, nesting + 1) for text in inner]
                for seen in unread:
                    found.setdefault((seen.kind, seen.symbol, seen.lines, seen.how), seen)
    if names.tangled:
        found[()] = Seen("opaque", source.path, "names too tangled to follow", (1, 1), True)
    return list(found.values())


def _seen(place: Place, calls: list[effects.Made], wrappers: Wrappers) -> Iterator[Seen]:
    node = place.visit.node
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from _imports(place.visit, node)
        return
    if isinstance(node, ast.Constant):
        yield from environment.proc(place)
        return
    for origin, fresh, made in calls:
        yield from effects.seen(place, origin, fresh, made)
        yield from wrappers.seen(place, origin, fresh, made)
    if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        origins = place.names.origins(node, place.scope)
        if not _TELLING.isdisjoint(origins):
            for origin in sorted(ENVIRON & origins.keys()):
                yield from environment.whole(place, origin, origins[origin])
            yield from effects.handed_on(place, origins)
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield from effects.stored(place, node)


def _imports(visit: Visit, node: ast.Import | ast.ImportFrom) -> Iterator[Seen]:
    marks = ", in a try for a missing import" * visit.guarded + ", under TYPE_CHECKING" * visit.typing_only
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Seen("import", alias.name, f"import{marks}", span(alias, visit.at), known=True)
        return
    module = relative(visit.scope.path, node.level, node.module) if node.level else node.module or ""
    how = ("relative import" if node.level else "from import") + marks
    for alias in node.names:
        yield Seen("import", module, how, span(node, visit.at), known=True, member=alias.name)


def _code(place: Place, calls: list[effects.Made], nesting: int) -> tuple[list[Survey], list[Seen]]:
    """Surveys of the constant code that a call runs, and what it runs that can't be read."""
    surveys, unread = [], []
    for origin, fresh, made in calls:
        if origin not in EXEC:
            continue
        sources, complete = effects.code(place, origin, made)
        symbol = origin.removeprefix("builtins.")
        if not complete:
            unread.append(Seen("exec", symbol, "code unknown", place.lines(), fresh))
        for text in sources:
            try:
                if nesting >= _MAX_NESTING:
                    raise Unreadable("code in code in code")
                surveys.append(survey(parse_text(text), place.scope.path, place.scope, place.lines()))
            except Unreadable as error:
                unread.append(Seen("exec", symbol, str(error), place.lines(), fresh))
    return surveys, unread
