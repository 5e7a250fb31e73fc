"""Tables as files: one schema each, and the same bytes for the same rows.

Bytes are reproducible for one pyarrow version (its name stands in the footer); `rows_sha256`, taken over the sorted
rows as an Arrow IPC stream, is the same across versions and is what identity uses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from stages.contract.columns import column, scalar
from stages.contract.errors import InputError, MissingInput

ROW_GROUP = 65_536


def table(schema: pa.Schema, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows of exactly the schema's keys as a table.

    Raises ValueError on a missing or unknown key or a value of another type, InputError on a null where none may be.
    """
    names = set(schema.names)
    listed = list(rows)
    for row in listed:
        if row.keys() != names:
            raise ValueError(f"row keys differ from the schema: {sorted(row.keys() ^ names)}")
    columns = []
    for field in schema:
        try:
            columns.append(column([row[field.name] for row in listed], field.type))
        except ValueError as error:
            raise ValueError(f"column {field.name}: {error}") from None
    made = pa.Table.from_arrays(columns, schema=schema)
    _refuse_nulls(made, schema, "the table")
    return made


def _refuse_nulls(made: pa.Table, schema: pa.Schema, where: object) -> None:
    for field in schema:
        if not field.nullable and made.column(field.name).null_count:
            raise InputError(f"{where}: column {field.name}", "a row without a value", "a value in every row")


def key_of(schema: pa.Schema) -> list[str]:
    """The columns by which rows are sorted and unique."""
    return str((schema.metadata or {})[b"key"].decode()).split(",")


def _sorted(made: pa.Table, key: Sequence[str], where: object) -> pa.Table:
    """Rows in key order, in one chunk. Raises InputError if two rows share a key."""
    if made.num_rows > 1 and not _in_order(made, key):
        made = made.take(pc.sort_indices(made, sort_keys=[(name, "ascending") for name in key]))
        before, after = made.slice(0, made.num_rows - 1), made.slice(1)
        same = reduce(pc.and_, (pc.equal(before.column(name), after.column(name)) for name in key))
        if pc.any(same).as_py():
            at = same.index(True).as_py()
            twice = ", ".join(str(before.column(name)[at].as_py()) for name in key)
            raise InputError(f"{where}: {twice}", "two rows with the same key", f"unique {', '.join(key)}")
    return made.combine_chunks()


def _in_order(made: pa.Table, key: Sequence[str]) -> bool:
    """Whether each row's key is larger than the one before: most tables are, and sorting copies all of them."""
    before, after = made.slice(0, made.num_rows - 1), made.slice(1)
    larger, equal = None, None
    for name in key:
        one, two = before.column(name), after.column(name)
        if one.null_count or two.null_count:
            return False
        above = pc.greater(two, one)
        larger = above if larger is None else pc.or_(larger, pc.and_(equal, above))
        same = pc.equal(one, two)
        equal = same if equal is None else pc.and_(equal, same)
    return bool(pc.all(larger).as_py())


def write(path: Path, made: pa.Table) -> None:
    """Write a table sorted by its key. `path` is a name of the caller's own; nobody reads it meanwhile."""
    schema = made.schema
    _refuse_nulls(made, schema, path)
    rows = _sorted(made, key_of(schema), path)
    with pq.ParquetWriter(
        path,
        schema,
        version="2.6",
        compression="zstd",
        compression_level=3,
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
    ) as writer:
        writer.write_table(rows, row_group_size=ROW_GROUP)


def read(path: Path, schema: pa.Schema) -> pa.Table:
    """Read a table and hold it against its schema, nulls, text and unique keys. Raises MissingInput or InputError."""
    if not path.is_file():
        raise MissingInput(
            path,
            "is no regular file" if path.exists() else "isn't there",
            "a stage's output",
            "run `dvc repro`, or `dvc pull` / `dvc checkout` to restore it",
        )
    try:
        with pq.ParquetFile(path, memory_map=False) as file:
            found = file.schema_arrow
            if found.names != schema.names:
                raise InputError(path, f"columns {', '.join(found.names)}", f"columns {', '.join(schema.names)}")
            for field in schema:
                if found.field(field.name).type != field.type:
                    raise InputError(
                        f"{path}: {field.name}", f"type {found.field(field.name).type}", f"type {field.type}"
                    )
            made = file.read()
        made.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise InputError(path, f"can't be read as Parquet ({type(error).__name__})", "a table of this study") from None
    _refuse_nulls(made, schema, path)
    made = made.cast(schema)
    _sorted(made.select(key_of(schema)), key_of(schema), path)
    return made


def rows_sha256(made: pa.Table) -> str:
    """sha256 of the sorted rows as one Arrow IPC stream: the identity of a table's content.

    A nullable column goes in as its values with nulls filled and a second column that marks them, since the bytes
    under a null slot are whatever a library left there.
    """
    bare = _sorted(made, key_of(made.schema), "the table")
    columns, fields = [], []
    for field in bare.schema:
        values = bare.column(field.name).combine_chunks()
        if field.nullable:
            columns.append(values.is_null())
            fields.append(pa.field(f"{field.name}?", pa.bool_(), nullable=False))
            values = pc.fill_null(values, scalar(field.type))
        columns.append(values)
        fields.append(pa.field(field.name, field.type, nullable=False))
    sink = _Hash()
    bare = pa.Table.from_arrays(columns, schema=pa.schema(fields))
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), bare.schema) as writer:
        writer.write_table(bare, max_chunksize=ROW_GROUP)
    return sink.hash.hexdigest()


class _Hash:
    """A write-only file that only remembers its digest."""

    closed = False

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self.hash.update(view)
        return view.nbytes

    def flush(self) -> None: ...

    def close(self) -> None:
        self.closed = True
