"""What an Inspect log claims in total, set against its own samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from stages.ingest.inspect_facts import Head
from stages.ingest.inspect_text import count, listed, mapping
from stages.ingest.lines import finite
from stages.ingest.model import Notes

_RATES = ("accuracy", "mean")
_NEAR = 1e-6  # sums of doubles in another order


class Counted(Protocol):
    """What was counted of a log's samples."""

    path: Any
    rows: int
    without_error: int
    points: dict[str, list[float]]


def check_claims(results: Mapping[str, Any], head: Head, scorer: str | None, own: Counted, notes: Notes) -> None:
    """Note each total and rate that isn't what the samples give. Raises InputError where one isn't a number.

    A rate here has every sample in its denominator: those that died, or have no score, count 0. Inspect leaves them
    out of its own, so a log with such samples disagrees with itself, and says so.
    """
    where = own.path.name
    claims = [("total_samples", own.rows), ("completed_samples", own.without_error)]
    for key, mine in claims:
        said = count(results.get(key), f"{own.path}: results: {key}")
        if said is not None and said != mine:
            notes.add("total_disagrees", where, f"{key} is {said}, its samples give {mine}", abs(said - mine))
    total = results.get("total_samples")
    if None not in (head.trials, total) and total != head.trials:
        notes.add("total_disagrees", where, f"total_samples is {total}, its data set and epochs give {head.trials}")
    if own.rows:
        rate = _rate(list(own.points.values()))
        for name, claimed in _claimed(results, head, scorer, own.path):
            if abs(claimed - rate) > _NEAR:
                notes.add("total_disagrees", where, f"{name} is {claimed:.6g}, its samples give {rate:.6g}")


def _rate(points: Sequence[Sequence[float]]) -> float:
    """Mean over items of the mean over their epochs, as Inspect reduces them."""
    return sum(sum(one) / len(one) for one in points) / len(points)


def _claimed(results: Mapping[str, Any], head: Head, scorer: str | None, path: object) -> list[tuple[str, float]]:
    """(name, value) of rates of the scorer that counts, where they are means over the samples."""
    made: list[tuple[str, float]] = []
    place = f"{path}: results: scores"
    for raw in listed(results.get("scores"), place):
        score = mapping(raw, place)
        reducer = score.get("reducer") or head.reducer
        comparable = head.epochs == 1 or reducer in (None, "mean")
        if comparable and scorer in (score.get("name"), f"{score.get('scorer')}/{score.get('name')}"):
            for metric in _RATES:
                value = finite(mapping(mapping(score.get("metrics"), place).get(metric), place).get("value"))
                if value is not None:
                    made.append((metric, value))
    return made
