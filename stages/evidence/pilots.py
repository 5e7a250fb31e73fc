"""A pilot's pairs, read for what they say about the spread of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stages.contract import layout
from stages.contract.errors import InputError, MissingInput

ENOUGH = 10  # items: with fewer, the sd of their differences is known to no better than a factor of two

if TYPE_CHECKING:
    from stages.stats import Pilot


def read_pilot(folder: Path) -> Pilot:
    """Estimates from the kept pairs of a study's folder, or of a folder with `pairs.parquet`."""
    from stages.contract import parquet, tables
    from stages.stats import estimate_pilot

    path = next((p for p in (folder / layout.PAIRS, folder / layout.PAIRS.name) if p.is_file()), None)
    if path is None:
        raise MissingInput(folder, f"no {layout.PAIRS} in it", "a study or pilot whose pairs were made")
    passes: dict[str, list[int]] = {}
    for row in parquet.read(path, tables.PAIRS).to_pylist():
        if row["kept"]:
            mine = passes.setdefault(row["item_id"], [0, 0, 0])
            for place, value in enumerate((row["candidate"], row["control"], 1)):
                if value not in (0, 1):
                    raise InputError(f"{path}: {row['item_id']}", f"outcome {value} in a kept pair", "0 or 1")
                mine[place] += value
    if len(passes) < 2:
        raise InputError(path, f"{len(passes)} items with a kept pair", "two or more", larger(len(passes)))
    import numpy as np

    columns = np.array([passes[item] for item in sorted(passes)], dtype=np.int64).T
    found = estimate_pilot(columns[0], columns[1], columns[2])
    if not found.sd:
        said = f"in all {found.items} items the arms differ alike"
        raise InputError(path, said, "items that say how much they differ", larger(found.items))
    return found


def larger(items: int) -> str:
    """What to do after a pilot of so many items that says nothing."""
    number = max(ENOUGH, 2 * items)
    return f"pilot {number} items or all there are: `weighbridge pilot --items {number}`, or plan by --rate and --icc"
