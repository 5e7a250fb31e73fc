"""What preflight says of a pack's oracles beyond which items are refused."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from stages.contract.design import bare_kinds
from stages.contract.digest import rational_text
from stages.contract.errors import one_line
from stages.oracle.admit import Admission

MOST_SAID = 20
MOST_WHY = 100
_WARNED = ("statement", "hidden tests", "interface")


def summary(done: Sequence[Admission], most_surviving: Fraction | None) -> list[str]:
    """Lines on mutants that pass, with the share that does, on warnings, and on kinds of oracle without a placebo."""
    lines = []
    rows = [(a.item.item_id, row) for a in done for row in a.rows if row["check"] == "mutant"]
    passed = [f"  passes: {item} {row['detail']}" for item, row in rows if not row["ok"]]
    if rows:
        share = f"{len(passed) / len(rows):.3f}"
        limit = "no limit is set" if most_surviving is None else f"limit of an item {rational_text(most_surviving)}"
        lines.append(f"mutants: {len(passed)} of {len(rows)} pass their oracle (share {share}; {limit})")
    lines += _boundaries(done)
    bare: dict[str, list[str]] = {}
    for made in done:
        for row in made.rows:
            if row["found"] == "no mutants":
                bare.setdefault(row["detail"], []).append(made.item.item_id)
    for why, items in bare.items():
        more = f" and {len(items) - MOST_SAID} more" if len(items) > MOST_SAID else ""
        lines.append(f"no mutants, not counted ({why}): {', '.join(items[:MOST_SAID])}{more}")
    lines += passed[:MOST_SAID]
    if len(passed) > MOST_SAID:
        lines.append(f"  and {len(passed) - MOST_SAID} more, in checks.parquet")
    for made in done:
        for check in _WARNED:
            lines += [f"{check} of {made.item.item_id}: {row['found']}" for row in made.warnings(check)]
        if made.placebo_passed:
            lines.append(f"placebo {made.item.item_id} passes on the untouched workspace: no arm will be started")
    kinds = [(a.item.oracle.kind, a.item.placebo) for a in done if a.rule is None]
    return lines + [
        f"no placebo has a {kind} oracle, and {count} items have one: the decision will be no_negative_control"
        for kind, count in bare_kinds(kinds).items()
    ]


def _boundaries(done: Sequence[Admission]) -> list[str]:
    """How many of the admitted items are judged apart from their oracle, and which aren't, by reason."""
    admitted = [made for made in done if made.rule is None]
    beside: dict[str, list[str]] = {}
    for made in admitted:
        if made.boundary == "inprocess":
            asked = "a command decides itself" if made.item.oracle.kind == "command" else "asked for"
            why = next((row["detail"] for row in made.rows if row["check"] == "boundary"), asked)
            beside.setdefault(one_line(why, MOST_WHY), []).append(made.item.item_id)
    said = []
    for why, items in beside.items():
        others = f" and {len(items) - MOST_SAID} more" if len(items) > MOST_SAID else ""
        said.append(f"{', '.join(items[:MOST_SAID])}{others} ({why})")
    apart = sum(made.boundary == "process" for made in admitted)
    more = f" and {len(said) - MOST_SAID} more reasons" if len(said) > MOST_SAID else ""
    tail = f"; in process: {'; '.join(said[:MOST_SAID])}{more}" if said else ""
    return [f"boundary: {apart} of {len(admitted)} items are judged apart from their oracle{tail}"] if admitted else []
