"""Logs of another harness, written by tests; judged in this process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stages.contract.importing import ImportParams
from stages.contract.types import validate
from stages.evidence.importing import judge

Row = dict[str, Any]


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row(item: int | str, passed: object, arm: str | None = None, **more: Any) -> Row:
    """One trial of a table."""
    made: Row = {"item_id": item if isinstance(item, str) else f"item-{item:03d}", "stratum": "one", "passed": passed}
    return {**made, **({} if arm is None else {"arm": arm}), **more}


def both(outcomes: Sequence[tuple[object, object]], **more: Any) -> list[Row]:
    """Rows of both arms from (candidate, control) per item."""
    pairs = enumerate(outcomes)
    return [row(i, p, arm, **more) for i, own in pairs for p, arm in zip(own, ("candidate", "control"), strict=True)]


def judged(
    folder: Path, rows: Iterable[Mapping[str, Any]], protocol: Mapping[str, Any] | None = None, **given: Any
) -> dict[str, Any]:
    """The decision on one table of both arms; the study lies in `folder/out`."""
    path = write_rows(folder / "rows.jsonl", rows)
    params = validate(ImportParams, {"logs": [str(path)], **given}, "test")
    return judge(folder / "out", params, protocol or {}, "test")


def found(decision: Mapping[str, Any]) -> dict[str, tuple[int, bool]]:
    """Kind of each finding to its count (summed) and whether it withholds."""
    kinds: dict[str, tuple[int, bool]] = {}
    for one in decision["findings_of_read"]:
        count, withholds = kinds.get(one["kind"], (0, False))
        kinds[one["kind"]] = (count + one["count"], withholds or one["withholds"])
    return kinds


def adds_up(decision: Mapping[str, Any]) -> bool:
    """Whether every planned trial is accounted for."""
    c = decision["counts"]
    return bool(c["planned"] == c["scored"] + c["excluded"] + c["missing"])
