"""Small logs of SWE-bench and OpenHands, written by us, and where real ones lie."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stages.ingest.model import Format, Notes, Options, Reading

DIFF = "diff --git a/pkg/core.py b/pkg/core.py\n--- a/pkg/core.py\n+++ b/pkg/core.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"
OTHER = DIFF.replace("+a = 2", "+a = 3")


def real(name: str) -> Path:
    """A folder or file of real logs beside the project; skips where there is none."""
    named = os.environ.get("WEIGHBRIDGE_LOGS")
    places = [Path(named)] if named else [p / "shared/data" for p in Path(__file__).resolve().parents]
    found = next((place / name for place in places if place.is_dir()), None)
    if found is None or not found.exists():
        pytest.skip("no real logs beside the project (WEIGHBRIDGE_LOGS names their folder)")
    return found


def write(path: Path, value: Any) -> Path:
    """A JSON file; a list for .jsonl is one object a line; text and bytes as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(value, bytes):
        path.write_bytes(value)
    elif isinstance(value, str):
        path.write_bytes(value.encode())
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in value))
    else:
        path.write_text(json.dumps(value))
    return path


def prediction(item: str, patch: str | None = DIFF, **more: Any) -> dict[str, Any]:
    """One prediction."""
    return {"instance_id": item, "model_name_or_path": "acme/one", "model_patch": patch, **more}


class Read:
    """What a format makes of paths, in the shapes that tests ask for."""

    def __init__(self, form: Format, *paths: Path, **options: Any) -> None:
        self.notes = Notes()
        self.reading: Reading = form.read(list(paths), Options(**options), self.notes)
        self.rows: list[dict[str, Any]] = self.reading.rows.to_pylist()

    def statuses(self) -> dict[str | None, int]:
        """Rows by status."""
        return dict(Counter(row["status"] for row in self.rows))

    def of(self, item: str) -> list[tuple[str | None, str | None]]:
        """(status, reason) of each row of one item."""
        return [(row["status"], row["reason"]) for row in self.rows if row["item_id"] == item]

    def column(self, name: str) -> list[Any]:
        """One column."""
        return [row[name] for row in self.rows]

    def found(self) -> dict[str, int]:
        """Findings: kind to count, summed."""
        made: Counter[str] = Counter()
        for one in self.notes.findings:
            made[one.kind] += one.count
        return dict(made)

    def items(self, kind: str) -> Sequence[str]:
        """Items that the first finding of a kind names."""
        return next(one.items for one in self.notes.findings if one.kind == kind)
