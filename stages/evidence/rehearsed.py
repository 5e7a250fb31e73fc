"""A finished rehearsal, and what people are told of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from stages.contract import layout
from stages.contract.errors import InputError, MissingInput
from stages.contract.rehearsals import AaRecord, PilotRecord
from stages.contract.types import plain
from stages.evidence.pilots import ENOUGH, larger, read_pilot

R = TypeVar("R", AaRecord, PilotRecord)
SHOWN = 20


@dataclass(frozen=True)
class Rehearsed(Generic[R]):
    """A finished rehearsal, the folder that holds (or held) its evidence, whether it was finished before."""

    record: R
    folder: Path
    already: bool

    def shown(self) -> dict[str, Any]:
        """JSON-ready; of a pilot also why a plan can't be made from it, if it can't."""
        found = {**plain(self.record), "folder": str(self.folder), "already_done": self.already}
        return found | {"says_nothing": _nothing(self)} if self.record.kind == "pilot" else found


def aa_lines(done: Rehearsed[AaRecord]) -> list[str]:
    """What people are told of an A/A."""
    record = done.record
    control, items = f"{record.control.name} {record.control.version}", f"{record.items_kept} items"
    if record.delta is None:
        figures = "no figures"
    elif record.lo is None or record.hi is None:
        figures = f"Δ {record.delta:+.3f} without an interval"
    else:
        figures = f"Δ {record.delta:+.3f} [{record.lo:+.3f}, {record.hi:+.3f}] at alpha {record.alpha_spent:.3g}"
    lines = [
        f"A/A of {control} on pack {record.pack_id} {record.pack_revision}: {figures}, {items}",
        f"{record.decision}: {', '.join(record.reasons) or record.reason}",
        *(["already done; `weighbridge aa --again` makes another one"] if done.already else []),
        _where(done),
    ]
    if "placebo_passed" in record.reasons:
        lines.append(
            "CHECK FAILED: a placebo passed its impossible oracle, so no verdict of this harness can be trusted"
        )
    if record.would_publish:
        share = f"{100 * record.alpha_spent:.2g} % of chance" if record.alpha_spent else "chance"
        lines.append(
            "CHECK FAILED: THE HARNESS CROWNED A COPY OF THE CONTROL. Something favours one arm, unless it is the "
            f"{share}; `weighbridge aa --again` tells them apart"
        )
    elif "no_variance" in record.reasons and record.delta == 0:
        lines.append("both copies did the same on every item: nothing here could have crowned either")
    return lines


def pilot_lines(done: Rehearsed[PilotRecord]) -> list[str]:
    """What people are told of a pilot."""
    record = done.record
    lines = [f"pilot on {len(record.items)} items of pack {record.pack_id} {record.pack_revision}, which is no look"]
    for name, arm in (("candidate", record.candidate), ("control", record.control)):
        trials, passes = getattr(record.trials, name), getattr(record.passes, name)
        rate = f", {passes / trials:.3f}" if trials else ""
        lines.append(f"{name} {arm.name} {arm.version}: {passes} of {trials} trials passed{rate}")
    if done.already:
        lines.append("already done")
    more = f" and {len(record.items) - SHOWN} more" if len(record.items) > SHOWN else ""
    return [
        *lines,
        f"items: {', '.join(item.item_id for item in record.items[:SHOWN])}{more}",
        _where(done),
        "the report will name these items as piloted while they stay in the pack",
        *_next(done),
    ]


def _nothing(done: Rehearsed[Any]) -> str | None:
    """Why a plan can't be made from a pilot, None if it can."""
    try:
        read_pilot(done.folder)
    except (InputError, MissingInput) as error:
        return error.found
    return None


def _next(done: Rehearsed[PilotRecord]) -> list[str]:
    nothing, number = _nothing(done), len(done.record.items)
    if nothing is not None:
        return [
            f"it saw no difference between items ({nothing}), so a plan can't be made from it",
            f"next: {larger(number)}",
        ]
    few = f"{number} items say little of how much items differ: pilot {ENOUGH} or more if you can"
    return [*([few] if number < ENOUGH else []), f"next: weighbridge plan --pilot {done.folder}"]


def _where(done: Rehearsed[Any]) -> str:
    lies = f"; its evidence lies in {done.folder}" if done.folder.is_dir() else ""
    return f"recorded in {layout.REHEARSALS} at {done.record.at}{lies}"
