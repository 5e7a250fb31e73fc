"""One check of `verify`, and how two values or two tables are told apart down to row and field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from stages.contract import parquet
from stages.contract.errors import one_line

MOST_NAMED = 20
Rows = list[dict[str, Any]]


@dataclass
class Check:
    """What was looked at, and what isn't as it should be. Nothing found means that it holds.

    `unread` says what a check couldn't look at: it doesn't fail for it, and says so.
    """

    name: str
    what: str
    differs: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    note: str = ""

    @property
    def result(self) -> Literal["ok", "differs", "not checked"]:
        return "differs" if self.differs else "not checked" if self.unread and not self.note else "ok"

    def same(self, where: object, found: Any, expected: Any, why: str = "") -> bool:
        """Note where a value isn't the expected one; whether it is."""
        if found == expected:
            return True
        said = f"{one_line(where)}: {one_line(_shown(found), 100)}, expected {one_line(_shown(expected), 100)}"
        self.differs.append(f"{said}{f' {why}' if why else ''}")
        return False

    def full(self) -> bool:
        """Whether enough is named already."""
        return len(self.differs) >= MOST_NAMED

    def as_json(self) -> dict[str, Any]:
        return {
            "check": self.name,
            "what": self.what,
            "result": self.result,
            "differs": self.differs,
            "not_checked": self.unread,
            "note": self.note,
        }


def _shown(value: Any) -> Any:
    return f"{value[:16]}…" if isinstance(value, str) and len(value) == 64 else "nothing" if value is None else value


def compare_json(check: Check, where: str, found: Any, expected: Any) -> None:
    """Note the leaves in which two JSON values differ, by their keys."""
    if check.full() or found == expected:
        return
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key in sorted(found.keys() | expected.keys()):
            if key not in found or key not in expected:
                missing = "isn't there" if key not in found else "isn't known"
                check.differs.append(f"{one_line(where)}: {one_line(key)} {missing}")
            else:
                compare_json(check, f"{where}: {key}", found[key], expected[key])
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for number, (one, two) in enumerate(zip(found, expected, strict=True)):
            compare_json(check, f"{where}[{number}]", one, two)
    else:
        check.same(where, found, expected)


def compare_tables(
    check: Check, where: object, stored: pa.Table, derived: pa.Table, why: str, leave_out: Iterable[str] = ()
) -> None:
    """Note the rows and columns in which a stored table isn't the derived one. Both have one schema."""
    out = set(leave_out)
    if not out and parquet.rows_sha256(stored) == parquet.rows_sha256(derived):
        return
    key = parquet.key_of(derived.schema)
    rows, given = ({tuple(r[k] for k in key): r for r in t.to_pylist()} for t in (stored, derived))
    for one in sorted(rows.keys() | given.keys()):
        if check.full():
            return
        place = f"{where}: {', '.join(map(str, one))}"
        if one not in rows or one not in given:
            check.differs.append(f"{one_line(place)}: {'no such row' if one not in rows else 'a row'} that {why}")
            continue
        for column in derived.schema.names:
            if column not in out:
                check.same(f"{place}: {column}", rows[one][column], given[one][column], f"as {why}")
