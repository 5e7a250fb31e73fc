"""What an oracle is probed with beyond the authored solutions: patches that do nothing, and mutants of the solution."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stages.contract.digest import digest
from stages.contract.plan import PlanItem
from stages.contract.trees import FILE, LINK, Entry, overlaid, tree_digest
from stages.contract.types import plain
from stages.oracle.mutants import mutants
from stages.oracle.operators import Unmutable, parsed
from stages.oracle.store import VerdictStore
from stages.oracle.verdict import Boundary, Observation, cleaned
from stages.sandbox import Isolation

Judge = Callable[[PlanItem, Sequence[Entry]], Observation]

_LEAST_S = 3.0
_MOST_TIMES = 10.0


def noop(tree: Sequence[Entry], solution: Sequence[Entry]) -> list[Entry]:
    """The workspace with a comment at the end of a file that the solution changes and of one that it doesn't.

    An oracle that only asks whether something was changed takes this for a solution. A blank line stands for the
    comment where a file isn't Python; where there is no text at all, a new file.
    """
    touched = {e.path for e in solution}
    own = next((e for e in map(_commented, tree) if e and e.path in touched), None)
    other = next((e for e in map(_commented, tree) if e and e.path not in touched), None)
    added = [e for e in (own, other) if e is not None]
    return overlaid(tree, added or [Entry("weighbridge-noop.txt", FILE, b"Nothing was done.\n")])


def _commented(entry: Entry) -> Entry | None:
    """The same file, longer by what means nothing; None where that isn't sure."""
    if entry.mode == LINK or b"\0" in entry.content:
        return None
    if not entry.path.endswith(".py"):
        return Entry(entry.path, entry.mode, entry.content + b"\n") if entry.path.endswith((".md", ".txt")) else None
    longer = entry.content + b"\n# nothing was done\n"
    try:
        same = ast.dump(parsed(entry.content)) == ast.dump(parsed(longer))
    except (Unmutable, RecursionError):
        return None
    return Entry(entry.path, entry.mode, longer) if same else None


def judged_mutants(
    item: PlanItem,
    tree: Sequence[Entry],
    solution: Sequence[Entry],
    reference_s: float,
    judge: Judge,
) -> Iterator[tuple[str, Observation | None]]:
    """(label, what the oracle made of it) of each mutant of the solution; one (why, None) where there are none.

    A mutant may loop for ever, so it gets ten times what the reference solution took (`reference_s`, seconds), and
    at most the oracle's own limit.
    """
    made, why = mutants(tree, solution, item.item_sha256)
    if why is not None:
        yield why, None
    limit = min(item.oracle.timeout_s, math.ceil(max(_LEAST_S, _MOST_TIMES * reference_s)))
    quick = item.model_copy(update={"oracle": item.oracle.model_copy(update={"timeout_s": limit})})
    for mutant in made:
        yield mutant.label, judge(quick, mutant.tree)


def remembering(
    judge: Judge,
    store: VerdictStore | None,
    item: PlanItem,
    oracle: Sequence[Entry],
    frozen: Sequence[Entry],
    expected: Sequence[str] | None,
    events: Sequence[str],
    isolation: Isolation,
    boundary: Boundary,
) -> Judge:
    """The same judge, asked once for each content. What ran out of time is asked again: the machine may be to blame."""
    if store is None:
        return judge
    asked = item.oracle
    rules: list[Any] = ["mutant", asked.kind, asked.command, boundary, expected, events, isolation.tier]
    rules.append(None if item.environment is None else plain(item.environment))
    settings, judged_by = digest(rules), tree_digest(oracle)

    def ask(quick: PlanItem, tree: Sequence[Entry]) -> Observation:
        key = (tree_digest(cleaned(tree, frozen)), judged_by, settings)
        kept = store.get(*key)
        if kept is not None:
            return kept
        seen = judge(quick, tree)
        return seen if seen.reason == "timeout" else store.put(*key, seen)

    return ask
