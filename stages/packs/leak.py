"""Whether the reference solution can be read where the agent looks."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from stages.contract.trees import Entry

RUN = 4
"""So many consecutive lines of the solution in a row are a leak (fewer, if the edit is shorter)."""
LEAST_CHARS = 60
"""Shorter runs are what anybody would write."""
_MOST_PAIRS = 4_000_000


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
        if entry.path in before and before[entry.path].content == entry.content:
            continue  # an overlay may hold files that it doesn't change
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
    for edit in _edits(old, new):
        size = min(RUN, len(edit))
        for at in range(len(edit) - size + 1):
            run = edit[at : at + size]
            if sum(map(len, run)) >= LEAST_CHARS:
                yield run


def _edits(old: list[str], new: list[str]) -> Iterable[list[str]]:
    if len(old) * len(new) > _MOST_PAIRS:  # a difference would take minutes
        before = {tuple(old[at : at + RUN]) for at in range(len(old))}
        yield from (run for at in range(len(new)) if tuple(run := new[at : at + RUN]) not in before)
        return
    for tag, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag not in ("equal", "delete"):
            yield new[start:end]


def _holds(lines: list[str], run: list[str]) -> bool:
    size = len(run)
    return any(lines[at : at + size] == run for at, line in enumerate(lines) if line == run[0])
