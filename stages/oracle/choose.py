"""Where an item's code under test runs: in a sandbox of its own where its oracle works so, else beside the tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from stages.contract.plan import PlanItem
from stages.contract.trees import Entry
from stages.oracle.admit import Admission, admit
from stages.sandbox import Isolation

# What refuses an item before its oracle is run, whatever the boundary.
_BEFORE = ("fixtures", "leak")


def admit_within(
    item: PlanItem,
    files: dict[tuple[str, str], list[Entry]],
    leak: Callable[[], str | None],
    isolation: Isolation,
    wanted: Literal["auto", "inprocess", "process"],
    **more: Any,
) -> Admission:
    """`admit`, with `more`, under the item's own boundary, else under `wanted`; `Admission.boundary` is what was used.

    `auto` is `process` where sandboxes and every check hold under it, and `inprocess` otherwise; the evidence's row
    `boundary` says why. With `process` an item whose checks don't hold is refused by the rule that they broke.
    """
    wanted = item.oracle.boundary or wanted
    if item.oracle.kind == "command" or wanted == "inprocess":
        return admit(item, files, leak, isolation, **more)
    if wanted == "auto" and isolation.tier == "none":
        return _said(
            admit(item, files, leak, isolation, **more), "inprocess", "no isolation: the oracle's files could be read"
        )
    apart = admit(item, files, leak, isolation, "process", **more)
    if wanted == "process" or apart.rule is None or any(row["rule"] for row in apart.rows if row["check"] in _BEFORE):
        return _said(apart, "process", "")
    return _said(admit(item, files, leak, isolation, **more), "inprocess", f"{apart.rule} under process: {apart.why()}")


def _said(out: Admission, found: str, why: str) -> Admission:
    """The admission, with a row on its boundary."""
    out.note("boundary", 0, found, "process", None, why, 0.0)
    return out
