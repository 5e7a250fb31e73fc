"""Tables as files: one schema each, and the same bytes for the same rows.

Bytes are reproducible for one pyarrow version (its name stands in the footer); `rows_sha256`, taken over the sorted
rows as an Arrow IPC stream, is the same across versions and is what identity uses.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from stages.contract.errors import InputError, MissingInput

ROW_GROUP = 65_536


def table(schema: pa.Schema, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows of exactly the schema's keys as a table. Raises ValueError on a missing, unknown or null-but-required value."""
    names = set(schema.names)
    listed = list(rows)
    for row in listed:
        if set(row) != names:
            raise ValueError(f"row keys differ from the schema: {sorted(set(row) ^ names)}")
    made = pa.table({f.name: pa.array([r[f.name] for r in listed], type=f.type) for f in schema}, schema=schema)
    _refuse_nulls(made, "the table")
    return made


def _refuse_nulls(made: pa.Table, where: object) -> None:
    for field in made.schema:
        if not field.nullable and made.column(field.name).null_count:
            raise InputError(f"{where}: column {field.name}", "a row without a value", "a value in every row")


def _sorted(made: pa.Table, key: Sequence[str], where: object) -> pa.Table:
    if made.num_rows and key:
        made = made.take(pa.compute.sort_indices(made, sort_keys=[(name, "ascending") for name in key]))
        groups = made.select(list(key)).group_by(list(key)).aggregate([]).num_rows
        if groups != made.num_rows:
            raise InputError(where, "two rows with the same key", f"unique {', '.join(key)}")
    return made.combine_chunks()


def key_of(schema: pa.Schema) -> list[str]:
    """The columns by which rows are sorted and unique."""
    return str((schema.metadata or {})[b"key"].decode()).split(",")


def write(path: Path, made: pa.Table) -> None:
    """Write a table sorted by its key, by a temporary name and a rename."""
    schema = made.schema
    _refuse_nulls(made, path)
    rows = _sorted(made, key_of(schema), path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with pq.ParquetWriter(
            temporary,
            schema,
            version="2.6",
            compression="zstd",
            compression_level=3,
            use_dictionary=False,
            write_statistics=False,
            store_schema=False,
        ) as writer:
            writer.write_table(rows, row_group_size=ROW_GROUP)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: Path, schema: pa.Schema) -> pa.Table:
    """Read a table and hold it against its schema. Raises MissingInput or InputError."""
    if not path.exists():
        raise MissingInput(
            path,
            "isn't there",
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
    except (pa.ArrowException, OSError) as error:
        raise InputError(path, f"can't be read as Parquet ({type(error).__name__})", "a table of this study") from None
    made = made.cast(schema)
    _refuse_nulls(made, path)
    return made


def rows_sha256(made: pa.Table) -> str:
    """sha256 of the sorted rows as one Arrow IPC stream: the identity of a table's content.

    A nullable column goes in as its values with nulls filled and a second column that marks them, since the bytes
    under a null slot are whatever a library left there.
    """
    bare = _sorted(made, key_of(made.schema), "the table")
    columns, fields = [], []
    for field in bare.schema:
        column = bare.column(field.name).combine_chunks()
        if field.nullable:
            marks = column.is_null()
            column = column.fill_null(_FILL[str(field.type)])
            columns.append(marks)
            fields.append(pa.field(f"{field.name}?", pa.bool_(), nullable=False))
        columns.append(column)
        fields.append(pa.field(field.name, field.type, nullable=False))
    sink = _Hash()
    bare = pa.Table.from_arrays(columns, schema=pa.schema(fields))
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), bare.schema) as writer:
        writer.write_table(bare, max_chunksize=ROW_GROUP)
    return sink.hash.hexdigest()


_FILL: dict[str, Any] = {"string": "", "binary": b"", "int64": 0, "uint64": 0, "double": 0.0, "bool": False}


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
