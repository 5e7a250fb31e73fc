"""Whether a task can be solved inside its own contract: its reference solution, examined as a patch would be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stages.assumptions.ledger import examine
from stages.assumptions.model import ENVIRONMENT, FILE, IMPORT, Allow, Interface
from stages.contract.plan import PlanItem
from stages.contract.trees import Entry, overlay_changes

_BREAKS = {
    IMPORT: "imports {symbol} outside allow.imports at {path}:{line}",
    ENVIRONMENT: "reads {symbol} outside allow.env at {path}:{line}",
    FILE: "writes {path} outside allow.files_write",
}


def terms(item: PlanItem) -> tuple[Allow, Interface | None]:
    """An item's contract as the ledger takes it."""
    allow, pinned = item.allow, item.interface
    return (
        Allow(tuple(allow.imports), allow.stdlib, tuple(allow.env), tuple(allow.files_write)),
        Interface(pinned.module, pinned.function, pinned.signature) if pinned else None,
    )


def beyond_contract(item: PlanItem, tree: Iterable[Entry], solution: Sequence[Entry]) -> tuple[list[str], list[str]]:
    """(how the reference solution breaks its task's contract, how it departs from the pinned interface), in words.

    What breaks the contract would be held against every agent that solves the task in the same way.
    """
    before = list(tree)
    found = examine(before, overlay_changes(before, solution), *terms(item))
    return (
        [_BREAKS[f.kind].format(**vars(f)) for f in found.of("article")],
        [f"{f.kind} {f.symbol} ({f.how})" for f in found.of("drift")],
    )
