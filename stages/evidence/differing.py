"""Two decisions side by side: what differs in pack, protocol, arms, exclusions and numbers.

Numbers of different slices answer different questions, so they are never set beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stages.contract import layout, parquet, tables
from stages.contract.bundled import MAX_JSON_BYTES
from stages.contract.decision import Decision
from stages.contract.digest import digest
from stages.contract.parquet_pages import check_size
from stages.contract.text import read_json
from stages.contract.types import validate
from stages.evidence.opening import check_json_sizes, opened

SECTIONS: dict[str, tuple[str, ...]] = {
    "ids": ("slice_id", "study_id", "manifest_sha256"),
    "pack": ("pack_id", "pack_revision", "imported"),
    "protocol": ("protocol", "departures"),
    "arms": ("candidate", "control"),
    "campaign": (
        *(
            "started_at",
            "registration",
            "isolation",
            "looks",
            "lineage",
            "ran_at",
            "mode",
            "disclosure",
            "rehearsals",
            "session",
        ),
    ),
    "exclusions": ("exclusions", "dropped", "findings_of_read"),
    "numbers": (
        *("decision", "reason", "reasons", "reason_details", "would_publish", "headline", "headline_why", "counts"),
        *("summary", "strata", "arms", "win_rate", "secondary", "densities", "sensitivity", "asymmetry"),
        *("excluded_share", "placebo_bound", "legacy"),
    ),
}
OF_A_SLICE = ("campaign", "exclusions", "numbers")
"""What is only set side by side where both are of one slice."""
MOST_ITEMS = 50


@dataclass(frozen=True)
class Side:
    """One of the two: its decision, and where they are at hand its items and the rules by which trials went."""

    name: str
    decision: dict[str, Any]
    items: dict[str, dict[str, Any]] | None
    excluded: dict[str, str] | None


@dataclass(frozen=True)
class Difference:
    """Sections to (key, first, second). `same_slice`: whether numbers may be read side by side at all."""

    same: bool
    same_slice: bool
    sections: dict[str, list[tuple[str, Any, Any]]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        rows = {
            name: [{"key": key, "a": one, "b": two} for key, one, two in found] for name, found in self.sections.items()
        }
        return {"same": self.same, "same_slice": self.same_slice, "differs": rows}


def diff(one: Path, two: Path) -> Difference:
    """Compare two decisions, folders or bundles. Raises WeighbridgeError where one can't be read."""
    with _side(one) as a, _side(two) as b:
        first, second = a.decision, b.decision
        same_slice = first["slice_id"] == second["slice_id"]
        sections: dict[str, list[tuple[str, Any, Any]]] = {}
        for name, keys in SECTIONS.items():
            if same_slice or name not in OF_A_SLICE:
                sections[name] = [leaf for key in keys for leaf in leaves(key, first.get(key), second.get(key))]
        if a.items is not None and b.items is not None:
            sections["pack"] += list(leaves("items", a.items, b.items))
        if same_slice and a.excluded is not None and b.excluded is not None:
            sections["exclusions"] += list(leaves("excluded", a.excluded, b.excluded))
        found = {name: rows for name, rows in sections.items() if rows}
        return Difference(digest(first) == digest(second) and not found, same_slice, found)


def leaves(key: str, one: Any, two: Any) -> Iterator[tuple[str, Any, Any]]:
    """(key, first, second) of every leaf in which two values differ; None is what isn't there."""
    if one == two:
        return
    if isinstance(one, dict) and isinstance(two, dict):
        for name in sorted(one.keys() | two.keys()):
            yield from leaves(f"{key}.{name}", one.get(name), two.get(name))
    else:
        yield key, one, two


@contextmanager
def _side(path: Path) -> Iterator[Side]:
    if path.is_file() and path.suffix == ".json":
        found = read_json(path, MAX_JSON_BYTES)
        validate(Decision, found, path)
        yield Side(str(path), found, None, None)
        return
    with opened(path) as study:
        check_json_sizes(study.root)
        found = read_json(study.root / layout.DECISION)
        validate(Decision, found, f"{path}: {layout.DECISION}")
        yield Side(str(path), found, _items(study.root), _excluded(study.root))


def _items(root: Path) -> dict[str, dict[str, Any]] | None:
    """Item id to what it is, of a study that ran here."""
    path = root / layout.PLAN
    if not path.is_file():
        return None
    from stages.contract.study import read_plan

    named = ("rev", "stratum", "cluster", "placebo", "time_budget_s", "item_sha256")
    return {item.item_id: {name: getattr(item, name) for name in named} for item in read_plan(root).items}


def _excluded(root: Path) -> dict[str, str] | None:
    """What is excluded, to the rule and whether it counts."""
    path = root / layout.EXCLUSIONS
    if not path.is_file():
        return None
    check_size(path)
    rows = parquet.read(path, tables.EXCLUSIONS).to_pylist()
    made: dict[str, str] = {}
    for row in rows:
        parts = [row["scope"], row["item_id"], row["arm"], row["repeat"]]
        what = " ".join(str(part) for part in parts if part is not None)
        said = row["rule"] if row["accepted"] else f"{row['rule']} (refused: {row['refused_why']})"
        made[what] = f"{made[what]}, {said}" if what in made else said
    return made
