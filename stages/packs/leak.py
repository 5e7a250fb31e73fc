"""Whether the reference solution can be read where the agent looks."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from stages.contract.trees import Entry

RUN = 4
"""So many consecutive lines of the solution in a row are a leak (fewer, if the edit is shorter)."""
LEAST_CHARS = 60
"""Shorter runs are what anybody would write."""


def leaked_solution(solution: Sequence[Entry], tree: Sequence[Entry], statement: bytes) -> str | None:
    """Where a run of the solution's own lines stands in statement or workspace, or None.

    Lines are compared without indentation and comment marks, so a commented-out solution is found too.
    """
    before = {entry.path: entry for entry in tree}
    places = [
        ("the statement", _lines(statement)),
        *((f"workspace/{e.path}", _lines(e.content)) for e in tree),
    ]
    same = {e.sha256: e.path for e in tree}
    for entry in solution:
        if entry.sha256 in same and len(entry.content) >= LEAST_CHARS:
            return f"the solution's {entry.path} is workspace/{same[entry.sha256]}"
        old = _lines(before[entry.path].content) if entry.path in before else []
        for run in _runs(old, _lines(entry.content)):
            for name, lines in places:
                if _holds(lines, run):
                    return f"{len(run)} lines of the solution's {entry.path} stand in {name}: {run[0]!r} …"
    return None


def _lines(content: bytes) -> list[str]:
    text = content.decode("utf-8", "replace")
    stripped = (line.strip().lstrip("#/*>-` ").strip() for line in text.splitlines())
    return [line for line in stripped if line]


def _runs(old: list[str], new: list[str]) -> Iterable[list[str]]:
    """Runs of RUN lines (or a whole shorter edit) that the solution adds or replaces."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, _, _, start, end in matcher.get_opcodes():
        if tag in ("equal", "delete"):
            continue
        edit = new[start:end]
        size = min(RUN, len(edit))
        for at in range(len(edit) - size + 1):
            run = edit[at : at + size]
            if sum(map(len, run)) >= LEAST_CHARS:
                yield run


def _holds(lines: list[str], run: list[str]) -> bool:
    size = len(run)
    return any(lines[at : at + size] == run for at, line in enumerate(lines) if line == run[0])
