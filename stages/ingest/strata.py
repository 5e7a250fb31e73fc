"""Strata from elsewhere: a CSV file with an item and its stratum in each row, or the name of a field of the log."""

from __future__ import annotations

from pathlib import Path

from stages.contract.errors import InputError
from stages.ingest.cells import Cells
from stages.ingest.table_blocks import csv_blocks

_WHAT = "a CSV file with columns item_id and stratum"


def read_strata(root: Path, given: str | None) -> tuple[str | None, dict[str, str] | None]:
    """(field of the log, item to stratum of a file), at most one of them. Raises InputError."""
    if given is None:
        return None, None
    if not given.endswith(".csv"):
        return given, None
    path = root / given
    made: dict[str, str] = {}
    for block in csv_blocks(path, _WHAT, ","):
        for name in ("item_id", "stratum"):
            if name not in block.columns:
                raise InputError(path, f"no column {name}", _WHAT)
        cells = Cells(block)
        items, strata = cells.read("item_id", "name"), cells.read("stratum", "name")
        cells.whole("item_id", items)
        cells.whole("stratum", strata)
        for at, (item, stratum) in enumerate(zip(items, strata, strict=True)):
            if made.setdefault(item, stratum) != stratum:
                raise InputError(block.place(at), f"{item} in {made[item]} and {stratum}", "one stratum per item")
    if not made:
        raise InputError(path, "no row", _WHAT)
    return None, made
