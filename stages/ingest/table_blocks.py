"""A table in blocks of columns, whatever file it lies in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from stages.contract.errors import InputError
from stages.ingest.lines import check_file, json_lines
from stages.ingest.model import Notes

BLOCK_ROWS = 65_536
_LINE_BYTES = 16 * 1024 * 1024
_MISSING = object()


@dataclass(frozen=True)
class Block:
    """Some rows. A cell that a row of JSON doesn't have is None; one of CSV is None where it is empty."""

    path: Path
    columns: Mapping[str, Sequence[Any]]
    length: int
    first: int  # number of the first row's line
    unit: str  # what is counted: line or row
    numbers: Sequence[int] | None = None  # line of each row, where they aren't consecutive

    @property
    def where(self) -> str:
        return str(self.path)

    def lines(self) -> Sequence[int]:
        """Line or row number of each row."""
        return self.numbers if self.numbers is not None else range(self.first, self.first + self.length)

    def place(self, at: int) -> str:
        """File and line of a row, for messages."""
        return f"{self.path}: {self.unit} {self.lines()[at]}"


def jsonl_blocks(path: Path, what: str, notes: Notes) -> Iterator[Block]:
    """Rows of JSON lines; a key that comes later in the file is None before."""
    held: list[dict[str, Any]] = []
    numbers: list[int] = []
    names: dict[str, None] = {}

    def made() -> Block:
        columns = {name: [row.get(name) for row in held] for name in names}
        return Block(path, columns, len(held), numbers[0], "line", numbers)

    for number, row in json_lines(path, what, notes, _LINE_BYTES):
        if row.keys() - names.keys():
            names |= dict.fromkeys(row)
        held.append(row)
        numbers.append(number)
        if len(held) == BLOCK_ROWS:
            yield made()
            held, numbers = [], []
    if held:
        yield made()


def csv_blocks(path: Path, what: str, delimiter: str) -> Iterator[Block]:
    """Rows of a CSV file with one header line, all cells as text. A row of another length is refused."""
    check_file(path, what)
    try:
        with path.open("rb") as stream:
            head = stream.readline(1_000_000)
    except OSError as error:
        raise InputError(path, f"can't be read ({error.strerror})", what) from None
    if head.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise InputError(path, "starts with a byte-order mark", "plain UTF-8", "save it without a BOM")
    bad: list[str] = []

    def refused(row: Any) -> str:
        bad.append(f"{row.actual_columns} cells, the header has {row.expected_columns}: {str(row.text)[:80]!r}")
        return "error"

    read = pc.ReadOptions(use_threads=False, block_size=8 * 1024 * 1024)
    parse = pc.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refused)
    try:
        names = pc.open_csv(path, read_options=read, parse_options=parse).schema.names
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(path, f"two columns {twice!r}", "each once")
        convert = pc.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            null_values=[""],
            quoted_strings_can_be_null=True,
        )
        first = 2
        for batch in pc.open_csv(path, read_options=read, parse_options=parse, convert_options=convert):
            for start in range(0, batch.num_rows, BLOCK_ROWS):
                some = batch.slice(start, BLOCK_ROWS)
                yield Block(path, _lists(some), some.num_rows, first, "row")
                first += some.num_rows
    except (pa.ArrowException, OSError, UnicodeError) as error:
        said = bad[0] if bad else _first_line(error)
        raise InputError(path, f"can't be read as CSV: {said}", what) from None


def parquet_blocks(path: Path, what: str) -> Iterator[Block]:
    """Rows of a Parquet file."""
    check_file(path, what)
    try:
        with pq.ParquetFile(path, memory_map=False) as file:
            if len(set(file.schema_arrow.names)) != len(file.schema_arrow.names):
                raise InputError(path, "two columns with one name", "each once")
            first = 1
            for batch in file.iter_batches(batch_size=BLOCK_ROWS, use_threads=False):
                batch.validate(full=True)
                yield Block(path, _lists(batch), batch.num_rows, first, "row")
                first += batch.num_rows
    except (pa.ArrowException, OSError, UnicodeError, OverflowError, ValueError) as error:
        raise InputError(path, f"can't be read as Parquet: {_first_line(error)}", what) from None


def _lists(batch: pa.RecordBatch) -> dict[str, list[Any]]:
    return {name: batch.column(at).to_pylist() for at, name in enumerate(batch.schema.names)}


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
