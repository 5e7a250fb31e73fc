"""Records with a header line."""

from collections.abc import Iterable

from pipefield.records import RecordError, read_records


def read_table(lines: Iterable[str]) -> list[dict[str, str | None]]:
    """A dictionary for each record, with the names in the first line."""
    records = read_records(lines)
    header = next(records, [])
    rows = []
    for record in records:
        if len(record) != len(header):
            raise RecordError(f"expected {len(header)} fields, got {len(record)}")
        rows.append(dict(zip(header, record)))
    return rows
