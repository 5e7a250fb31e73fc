"""Python sources of a patch: what they do, held against the contract and against what the tree did before."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from stages.assumptions.language import Changed
from stages.assumptions.model import ARTICLE_KINDS, Allow, Counted, Finding
from stages.assumptions.names import Names
from stages.assumptions.permission import Habits, habits, judge_act, judge_import
from stages.assumptions.reading import read
from stages.assumptions.source import Unreadable
from stages.assumptions.workspace import Workspace, is_python
from stages.assumptions.wrappers import Wrappers
from stages.contract.lines import Touched, touched
from stages.contract.trees import LINK, Change, Entry, apply


class _Python:
    name = "Python"

    def owns(self, path: str, content: bytes) -> bool:
        return is_python(path, content)

    def findings(
        self, frozen: tuple[Entry, ...], changes: tuple[Change, ...], changed: Iterable[Changed], allow: Allow
    ) -> list[Finding]:
        workspace = Workspace(apply(frozen, changes))
        files = {file.path: file.touched for file in changed}
        files |= _linked(changes, workspace, files)
        if not files:
            return []
        before = tree_habits(frozen)

        def fresh(path: str, first: int, last: int) -> bool:
            return path in files and files[path].any(first, last)

        names = Names(workspace, fresh)
        wrappers = Wrappers(workspace, names)
        found: list[Finding] = []
        for path in sorted(files):
            found += _file(path, files[path], workspace, names, wrappers, allow, before)
        return found


LANGUAGE = _Python()


def _file(
    path: str,
    new: Touched,
    workspace: Workspace,
    names: Names,
    wrappers: Wrappers,
    allow: Allow,
    before: Habits,
) -> list[Finding]:
    try:
        source = workspace.source(path)
    except Unreadable as error:
        return [Finding("parse_error", path, error.line, path, str(error), "extended")]
    found = []
    for seen in read(source, names, wrappers):
        here = new.any(*seen.lines)
        if not here and not seen.fresh:
            continue
        if seen.kind == "import":
            verdict = judge_import(seen, path, workspace, allow, before)
        else:
            verdict = judge_act(seen, path, here, allow, before)
        if verdict.standing == "fine":
            continue
        counted: Counted = "article" if seen.kind in ARTICLE_KINDS else "extended"
        if verdict.standing == "already":
            found.append(Finding(seen.kind, path, seen.lines[0], verdict.symbol, "already in the tree", "note"))
        else:
            how = seen.how + verdict.why
            found.append(Finding(seen.kind, path, seen.lines[0], verdict.symbol, how, counted))
    return found


def _linked(changes: tuple[Change, ...], workspace: Workspace, files: dict[str, Touched]) -> dict[str, Touched]:
    """Links named like Python sources: all of what they lead to is new under that name.

    A link that leads to no file of the tree is unreadable, and comes out as a parse error.
    """
    linked = {}
    for change in changes:
        if change.mode_after == LINK and change.content is not None and is_python(change.path, b""):
            content = workspace.content(change.path)
            if change.path not in files:
                linked[change.path] = touched(None, content or b"")
    return linked


@lru_cache(maxsize=16)
def tree_habits(frozen: tuple[Entry, ...]) -> Habits:
    """What the frozen tree does; remembered, as many patches share a tree."""
    workspace = Workspace(frozen)
    names = Names(workspace, lambda path, first, last: False)  # noqa: ARG005
    wrappers = Wrappers(workspace, names)
    rows = []
    for path in sorted(workspace.files):
        content = workspace.content(path)
        if content is not None and is_python(path, content):
            try:
                rows += [(path, seen) for seen in read(workspace.source(path), names, wrappers)]
            except Unreadable:
                continue  # what can't be read allows nothing
    return habits(rows, workspace)
