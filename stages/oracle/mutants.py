"""Mutants of a reference solution: the solved tree with one small fault each, in lines that the solution wrote.

An oracle that passes many of them would pass wrong answers too. Some mutants mean the same as the original, which
nothing can tell in general, so a limit is set on the share that survives and never on a single one.
"""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from stages.contract.digest import sha256
from stages.contract.errors import one_line
from stages.contract.trees import LINK, Entry, overlaid
from stages.oracle.operators import Edit, Unmutable, edits, parsed, split

MOST = 3
"""Mutants of one item: each costs a run of its oracle."""
_MOST_PAIRS = 4_000_000


class Mutant(NamedTuple):
    """`label` reads file:line: operator; `tree` is the whole solved tree with the fault in it."""

    label: str
    tree: list[Entry]


def mutants(
    tree: Sequence[Entry], solution: Sequence[Entry], seed: str, most: int = MOST
) -> tuple[list[Mutant], str | None]:
    """(mutants, why there are none). At most `most`, over different lines first, drawn by `seed` (an item's digest).

    Each can be compiled, differs from the solution by its syntax tree, and isn't the untouched workspace again.
    """
    before = {e.path: e for e in tree}
    solved = overlaid(tree, solution)
    possible: list[tuple[Entry, Edit]] = []
    why = "the solution changes no line of Python"
    for entry in sorted(solution):
        old = before.get(entry.path)
        if not entry.path.endswith(".py") or entry.mode == LINK or (old and old.content == entry.content):
            continue
        try:
            found = edits(entry.content, changed_lines(old.content if old else b"", entry.content))
            why = "nothing to edit in the lines that the solution changes"
        except Unmutable as error:
            found, why = [], f"{entry.path}: {error}"
        possible += [(entry, edit) for edit in found]
    made: list[Mutant] = []
    for entry, edit in _drawn(possible, seed):
        if len(made) == most:
            break
        content = edit.made(entry.content)
        if _differs(content, entry.content, before.get(entry.path), solved, tree):
            mutant = Entry(entry.path, entry.mode, content)
            line = split(entry.content)[edit.line - 1].decode("utf-8", "replace").strip()
            label = f"{entry.path}:{edit.line}: {edit.operator} in {one_line(line, 80)!r}"
            made.append(Mutant(label, overlaid(solved, [mutant])))
    return made, None if made else why


def changed_lines(before: bytes, after: bytes) -> set[int]:
    """The 1-based lines of `after` that a shortest difference adds or replaces; nearly so where files are very long."""
    old, new = split(before), split(after)
    if len(old) * len(new) > _MOST_PAIRS:  # a difference would take minutes
        known = set(old)
        return {number for number, line in enumerate(new, start=1) if line not in known}
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return {number + 1 for tag, _, _, start, end in steps if tag != "equal" for number in range(start, end)}


def _drawn(possible: list[tuple[Entry, Edit]], seed: str) -> list[tuple[Entry, Edit]]:
    """In the order in which they are taken: by a lot that nobody chose, the first of every line before any second."""

    def lot(one: tuple[Entry, Edit]) -> str:
        entry, edit = one
        return sha256(f"{seed}/{entry.path}/{edit.start}/{edit.end}/{edit.text}".encode())

    seen: Counter[tuple[str, int]] = Counter()
    ranked: list[tuple[int, int, tuple[Entry, Edit]]] = []
    for one in sorted(possible, key=lot):
        place = (one[0].path, one[1].line)
        ranked.append((seen[place], len(ranked), one))
        seen[place] += 1
    return [one for _, _, one in sorted(ranked, key=lambda r: r[:2])]


def _differs(content: bytes, solved: bytes, old: Entry | None, whole: Sequence[Entry], tree: Sequence[Entry]) -> bool:
    """Whether a mutant is Python, and neither the solution itself nor the workspace that it started from."""
    try:
        mine = ast.dump(parsed(content))
        if mine == ast.dump(parsed(solved)):
            return False
        alone = old is not None and set(whole) - set(tree) == {e for e in whole if e.path == old.path}
        return old is None or not alone or mine != ast.dump(parsed(old.content))
    except (Unmutable, RecursionError):
        return False
