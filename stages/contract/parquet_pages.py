"""How large a Parquet file of a stranger would be in memory, told from its pages before one of them is unpacked.

A footer may say anything; a reader allocates what each page's own header says, so it is these that are added up. Ours
hold no dictionaries, so a file with one isn't a table of a study. Source: the Apache Parquet format's thrift structs.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from stages.contract.errors import InputError

FLOOR_BYTES = 8 * 1024 * 1024
MOST_RATIO = 100
MAX_FOOTER_BYTES = 16 * 1024 * 1024
MAX_HEADER_BYTES = 64 * 1024
_WHAT = "a table of a study"
_STOP, _I32, _STRUCT = 0, 5, 12


def check_size(path: Path) -> None:
    """Raise InputError where a file would take more memory than `MOST_RATIO` times its size (or 8 MB)."""
    held = path.stat().st_size
    most = FLOOR_BYTES + MOST_RATIO * held
    try:
        with path.open("rb") as stream:
            _check_footer(path, stream, held)
            with pq.ParquetFile(path, memory_map=False) as file:
                meta = file.metadata
                if meta.num_rows * meta.num_columns * 8 > most:
                    raise InputError(path, f"{meta.num_rows:,} rows in {held:,} bytes", _WHAT)
                total = 0
                for group in range(meta.num_row_groups):
                    for column in range(meta.num_columns):
                        chunk = meta.row_group(group).column(column)
                        if chunk.dictionary_page_offset is not None:
                            raise InputError(path, "a column with a dictionary", f"{_WHAT}, which has none")
                        total += _pages(path, stream, chunk.data_page_offset, chunk.total_compressed_size, held)
                        if total > most:
                            raise InputError(
                                path, f"unpacks to more than {most:,} bytes from {held:,}", f"{_WHAT}, at most {most:,}"
                            )
    except (pa.ArrowException, OSError) as error:
        raise InputError(path, f"can't be read as Parquet ({type(error).__name__})", _WHAT) from None


def _check_footer(path: Path, stream: BinaryIO, held: int) -> None:
    stream.seek(max(0, held - 8))
    end = stream.read(8)
    if held < 12 or end[4:] != b"PAR1":
        raise InputError(path, "doesn't end as a Parquet file", _WHAT)
    size = int.from_bytes(end[:4], "little")
    if size > min(MAX_FOOTER_BYTES, held):
        raise InputError(path, f"a footer of {size:,} bytes", f"at most {MAX_FOOTER_BYTES:,}")


def _pages(path: Path, stream: BinaryIO, start: int, length: int, held: int) -> int:
    """What the pages of one column chunk unpack to, in bytes."""
    if length == 0:
        return 0
    if start < 4 or length < 0 or start + length > held:
        raise InputError(path, "a column that lies outside of the file", _WHAT)
    at, total = start, 0
    while at < start + length:
        stream.seek(at)
        header = _Compact(path, stream.read(MAX_HEADER_BYTES))
        fields = header.numbers()
        packed, unpacked = fields.get(3, -1), fields.get(2, -1)
        if packed < 0 or unpacked < 0:
            raise InputError(path, "a page without its size", _WHAT)
        total += unpacked
        at += header.at + packed
    if at != start + length:
        raise InputError(path, "pages that end beyond their column", _WHAT)
    return total


class _Compact:
    """Just enough of Thrift's compact protocol to step over one struct."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data, self.at = path, data, 0

    def numbers(self) -> dict[int, int]:
        """The 32-bit integers of this struct by field id; everything else is stepped over, as readers do."""
        found: dict[int, int] = {}
        field = 0
        while True:
            head = self._byte()
            kind = head & 15
            if kind == _STOP:
                return found
            field = field + (head >> 4) if head >> 4 else self._zigzag()
            if kind == _I32:
                found[field] = self._zigzag()
            else:
                self._skip(kind, 0)

    def _skip(self, kind: int, depth: int) -> None:
        if depth > 16:
            raise InputError(self.path, "a page header that is nested too deep", _WHAT)
        if kind in (1, 2):
            return
        if kind == 3:
            self._byte()
        elif kind in (4, 5, 6):
            self._varint()
        elif kind == 7:
            self._take(8)
        elif kind == 8:
            self._take(self._varint())
        elif kind in (9, 10):
            head = self._byte()
            for _ in range(head >> 4 if head >> 4 != 15 else self._varint()):
                if head & 15 in (1, 2):  # only in a list does a boolean take a byte of its own
                    self._byte()
                else:
                    self._skip(head & 15, depth + 1)
        elif kind == _STRUCT:
            while True:
                head = self._byte()
                if head & 15 == _STOP:
                    return
                if not head >> 4:
                    self._varint()
                self._skip(head & 15, depth + 1)
        else:
            raise InputError(self.path, "a page header that can't be read", _WHAT)

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, count: int) -> bytes:
        part = self.data[self.at : self.at + count]
        if len(part) != count:
            raise InputError(self.path, "a page header that isn't whole", _WHAT)
        self.at += count
        return part

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise InputError(self.path, "a page header that can't be read", _WHAT)

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
