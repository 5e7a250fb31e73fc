"""Interface drift: the pinned signature against the definition that the produced tree has in its place.

What breaks a caller of the pinned signature counts as drift; what only widens it (a new optional parameter, a
default where there was none, a keyword-only parameter that may now be positional) is a note.
"""

from __future__ import annotations

import ast

from stages.assumptions.annotations import Lookup, dump, same
from stages.assumptions.definition import Definition, NotFound, find
from stages.assumptions.model import Finding, Interface
from stages.assumptions.signature import Parameter, parameters, signature, starred
from stages.assumptions.workspace import Workspace
from stages.contract.errors import one_line


class Report:
    """Collects findings about one definition."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.findings: list[Finding] = []

    def drift(self, kind: str, line: int, symbol: str, how: str) -> None:
        self.findings.append(Finding(kind, self.path, line, symbol, how, "drift"))

    def note(self, kind: str, line: int, symbol: str, how: str) -> None:
        self.findings.append(Finding(kind, self.path, line, symbol, how, "note"))


def drift(workspace: Workspace, interface: Interface) -> list[Finding]:
    """Findings of DRIFT_KINDS, and notes. Raises InputError for a pinned signature that is no Python."""
    if interface.module is None or interface.function is None:
        return []
    pinned = signature(interface.signature) if interface.signature is not None else None
    try:
        found = find(workspace, interface.module, interface.function)
    except NotFound as error:
        return [Finding("missing", error.path, 0, f"{interface.module}.{interface.function}", str(error), "drift")]
    if pinned is None:
        return []
    report = Report(found.path)
    _compare(pinned, found, interface.function, workspace, report)
    return report.findings


def _compare(
    pinned: ast.FunctionDef | ast.AsyncFunctionDef,
    found: Definition,
    name: str,
    workspace: Workspace,
    report: Report,
) -> None:
    wanted, given = parameters(pinned.args), parameters(found.node.args)
    if found.bound:
        given = given[1:] if given and given[0].kind in ("positional-only", "positional") else given
        if wanted and wanted[0].name in ("self", "cls"):
            wanted = wanted[1:]
    lookup = _lookup(workspace, found.path)
    pairs = _paired(wanted, given, report, name, found.line)
    for want, have in pairs:
        _pair(want, have, lookup, report)
    _order(pairs, wanted, given, name, found.line, report)
    if (
        isinstance(pinned, ast.AsyncFunctionDef) != isinstance(found.node, ast.AsyncFunctionDef)
        and not found.constructor
    ):
        how = "async now" if isinstance(found.node, ast.AsyncFunctionDef) else "no longer async"
        report.drift("async_changed", found.line, name, how)
    if pinned.returns is not None and not found.constructor:
        returns = getattr(found.node, "returns", None)
        if returns is None or not same(pinned.returns, returns, lookup):
            report.drift("return_changed", found.line, name, _arrow(pinned.returns, returns))


def _paired(
    wanted: list[Parameter], given: list[Parameter], report: Report, name: str, line: int
) -> list[tuple[Parameter, Parameter]]:
    """Pinned and found parameters that are each other: by star, by name, then by place (renamed)."""
    stars = {p.kind: p for p in given if p.kind in ("*", "**")}
    named = {p.name: p for p in given if p.kind not in ("*", "**")}
    pairs: list[tuple[Parameter, Parameter]] = []
    lost: list[Parameter] = []
    for want in wanted:
        have = stars.pop(want.kind, None) if want.kind in ("*", "**") else named.pop(want.name, None)
        if have is not None:
            pairs.append((want, have))
        else:
            lost.append(want)
    for want in lost:
        have = _successor(want, wanted, given, named)
        if have is None:
            report.drift("removed", line, starred(want), f"not a parameter of {name} any more")
            continue
        named.pop(have.name)
        if want.kind != "positional-only":  # its name can't be used by a caller
            report.drift("renamed", have.line, want.name, f"{want.name} to {have.name}")
        pairs.append((want, have))
    for extra in named.values():
        if extra.required:
            report.drift("newly_required", extra.line, extra.name, "a new parameter without a default")
        else:
            report.note("added_optional", extra.line, extra.name, "a new parameter with a default")
    for star in stars.values():
        report.note("added_optional", star.line, starred(star), "takes more than was pinned")
    return pairs


def _successor(
    want: Parameter, wanted: list[Parameter], given: list[Parameter], free: dict[str, Parameter]
) -> Parameter | None:
    """The unclaimed parameter in the lost one's place."""
    if want.kind in ("positional-only", "positional"):
        place = wanted.index(want)
        have = given[place] if place < len(given) else None
        return (
            have if have is not None and have.name in free and have.kind in ("positional-only", "positional") else None
        )
    keywords = [p for p in free.values() if p.kind == "keyword-only"]
    others = [p for p in wanted if p.kind == "keyword-only" and p.name not in {g.name for g in given}]
    return keywords[0] if want.kind == "keyword-only" and len(keywords) == 1 and len(others) == 1 else None


def _pair(want: Parameter, have: Parameter, lookup: Lookup, report: Report) -> None:
    symbol = starred(want)
    if want.kind != have.kind:
        widened = have.kind == "positional" and want.kind in ("keyword-only", "positional-only")
        (report.note if widened else report.drift)(
            "kind_widened" if widened else "kind_changed", have.line, symbol, f"{want.kind} to {have.kind}"
        )
    if want.default is not None and have.default is None:
        report.drift("newly_required", have.line, symbol, "its default is gone")
    elif want.default is None and have.default is not None:
        report.note("default_added", have.line, symbol, f"has a default now: {_text(have.default)}")
    elif (
        want.default is not None and have.default is not None and not _same_default(want.default, have.default, lookup)
    ):
        report.drift("default_changed", have.line, symbol, _arrow(want.default, have.default))
    if want.annotation is not None and (have.annotation is None or not same(want.annotation, have.annotation, lookup)):
        report.drift("annotation_changed", have.line, symbol, _arrow(want.annotation, have.annotation))


def _order(
    pairs: list[tuple[Parameter, Parameter]],
    wanted: list[Parameter],
    given: list[Parameter],
    name: str,
    line: int,
    report: Report,
) -> None:
    """Whether positional callers still reach the parameters that they mean."""
    places = [
        (wanted.index(want), given.index(have))
        for want, have in pairs
        if {want.kind, have.kind} <= {"positional-only", "positional"}
    ]
    order = [have for _, have in sorted(places)]
    shifted = [given[have] for want, have in sorted(places) if have > want and not _follows_gap(given[:have], pairs)]
    if order != sorted(order) or shifted:
        before = ", ".join(p.name for p in wanted)
        report.drift("reordered", line, name, f"({before}) to ({', '.join(p.name for p in given)})")


def _follows_gap(before: list[Parameter], pairs: list[tuple[Parameter, Parameter]]) -> bool:
    """Whether a required newcomer stands before: that is `newly_required` and no second finding."""
    known = {have.name for _, have in pairs}
    return any(p.required and p.name not in known for p in before)


def _same_default(pinned: ast.expr, found: ast.expr, lookup: Lookup) -> bool:
    if dump(pinned) == dump(found):
        return True
    meant = lookup(found.id) if isinstance(found, ast.Name) else None
    return isinstance(meant, ast.expr) and dump(pinned) == dump(meant)


def _lookup(workspace: Workspace, path: str) -> Lookup:
    """Names of the module as annotations and defaults use them."""
    top = workspace.source(path).survey.top

    def lookup(name: str) -> ast.expr | str | None:
        bound = top.names.get(name, [])
        if len(bound) != 1:
            return None
        if bound[0].form == "module":
            return workspace.display(bound[0].name)
        return bound[0].value if bound[0].form == "value" else None

    return lookup


def _arrow(before: ast.expr | None, after: ast.expr | None) -> str:
    return f"{_text(before)} to {_text(after)}"


def _text(node: ast.expr | None) -> str:
    if node is None:
        return "nothing"
    try:
        return one_line(ast.unparse(node), 60)
    except RecursionError:
        return "something deeply nested"
