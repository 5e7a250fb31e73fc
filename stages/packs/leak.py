"""Whether the reference solution can be read where the agent looks."""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Iterable, Sequence

from stages.contract.trees import Entry

RUN = 4
"""So many consecutive lines of the solution in a row are a leak (fewer, if the edit is shorter)."""
LEAST_CHARS = 60
"""Shorter runs are what anybody would write, as code; told in words they are looked for from LEAST_TOLD on."""
LEAST_TOLD = 20
_MOST_PAIRS = 4_000_000
_CODE = (".py", ".js", ".jsx", ".ts", ".tsx", ".go", ".rs", ".java", ".c", ".h", ".cpp", ".rb", ".sh", ".kt", ".cs")
_COMMENT = re.compile(r"(?:#|//|/\*|^\s*\*)(.*)")
_PLAIN = re.compile(r"(?:import|from|def|class|@|use|package|#include)\b")
_NAME = re.compile(r"[^\W\d]\w{2,}")


def leaked_solution(solution: Sequence[Entry], tree: Sequence[Entry], statement: bytes) -> str | None:
    """Where a run of the solution's own lines stands in statement or workspace, or None.

    Lines are compared without indentation and comment marks, so a commented-out solution is found too. A line of an
    edit that is too short for that is looked for where things are told: statement, comments, files that are no code.
    """
    before = {entry.path: entry for entry in tree}
    places = open_places(tree, statement)
    told = _told(tree, statement)
    same = {e.sha256: e.path for e in tree}
    for entry in solution:
        if entry.path in before and before[entry.path].content == entry.content:
            continue  # an overlay may hold files that it doesn't change
        if entry.sha256 in same and len(entry.content) >= LEAST_CHARS:
            return f"the solution's {entry.path} is workspace/{same[entry.sha256]}"
        old = lines_of(before[entry.path].content) if entry.path in before else []
        for edit in edits(old, lines_of(entry.content)):
            for run in _runs(edit):
                for name, lines in places:
                    if holds(lines, run):
                        return f"{len(run)} lines of the solution's {entry.path} stand in {name}: {run[0]!r} …"
            for line in _short(edit, old):
                for name, text in told:
                    if line in text:
                        return f"a line of the solution's {entry.path} is told in {name}: {line!r}"
    return None


def open_places(tree: Sequence[Entry], statement: bytes) -> list[tuple[str, list[str]]]:
    """What an agent can read: (name, comparable lines) of the statement and of each workspace file."""
    return [("the statement", lines_of(statement)), *((f"workspace/{e.path}", lines_of(e.content)) for e in tree)]


def _told(tree: Sequence[Entry], statement: bytes) -> list[tuple[str, str]]:
    """Where an author tells something: (name, text in which blanks are single)."""
    found = [("the statement", _single(statement.decode("utf-8", "replace")))]
    for entry in tree:
        text = entry.content.decode("utf-8", "replace")
        if entry.path.endswith(_CODE):
            text = "\n".join(_COMMENT.findall(text)) if "\0" not in text else ""
        found.append((f"workspace/{entry.path}", _single(text)))
    return found


def _short(edit: list[str], old: list[str]) -> Iterable[str]:
    """Lines of a short edit that say something: not of the old file, no import or bare head, two names at least."""
    if sum(map(len, edit)) >= LEAST_CHARS:
        return
    for line in map(_single, edit):
        names = {name for name in _NAME.findall(line) if not keyword.iskeyword(name)} - {"self"}
        if len(line) >= LEAST_TOLD and len(names) >= 2 and line not in old and not _PLAIN.match(line):
            yield line


def _single(text: str) -> str:
    return " ".join(text.split())


def lines_of(content: bytes) -> list[str]:
    """Lines without indentation, comment marks and marks of a diff; empty ones left out."""
    text = content.decode("utf-8", "replace")
    stripped = (line.strip().lstrip("#/*>+-` ").strip() for line in text.splitlines())
    return [line for line in stripped if line]


def _runs(edit: list[str]) -> Iterable[list[str]]:
    """Runs of RUN lines (or a whole shorter edit) that the solution adds or replaces."""
    size = min(RUN, len(edit))
    for at in range(len(edit) - size + 1):
        run = edit[at : at + size]
        if sum(map(len, run)) >= LEAST_CHARS:
            yield run


def edits(old: list[str], new: list[str]) -> Iterable[list[str]]:
    """The runs of lines that are added or replaced."""
    if len(old) * len(new) > _MOST_PAIRS:  # a difference would take minutes
        before = {tuple(old[at : at + RUN]) for at in range(len(old))}
        yield from (run for at in range(len(new)) if tuple(run := new[at : at + RUN]) not in before)
        return
    for tag, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag not in ("equal", "delete"):
            yield new[start:end]


def holds(lines: list[str], run: list[str]) -> bool:
    """Whether the run stands in the lines, in one piece."""
    size = len(run)
    return any(lines[at : at + size] == run for at, line in enumerate(lines) if line == run[0])
