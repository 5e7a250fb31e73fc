"""Members of an Inspect `.eval` file, one at a time: a zip whose members are stored, deflated or Zstandard.

Names of members never become paths. Everything is bounded before it is read: the directory, a member, all of them
together. Raises InputError.
"""

from __future__ import annotations

import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from stages.contract.errors import InputError
from stages.ingest.lines import check_file

MAX_MEMBER = 128 * 1024 * 1024
MAX_DIRECTORY = 64 * 1024 * 1024
MAX_NAME = 1_000
MAX_RATIO = 200  # of all members together, once they unpack to more than a gibibyte
_FREE = 1024**3
_BROKEN = (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, KeyError, OverflowError, struct.error)
_WHAT = "an Inspect log in a zip"
_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_LOCAL = 30  # bytes of a local header before its name
_SAMPLE = re.compile(r"samples/.+_epoch_[0-9]{1,9}\.json", re.DOTALL)
_END, _END64, _LOCATOR64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"


class Archive:
    """An open `.eval` file: `names` in the order of its directory, and the bytes of each."""

    def __init__(self, path: Path, stream: BinaryIO, listed: list[zipfile.ZipInfo]) -> None:
        self.path, self._stream = path, stream
        self.members = listed
        self._last = {member.filename: member for member in listed}

    def __contains__(self, name: str) -> bool:
        return name in self._last

    def read(self, name: str) -> bytes:
        """A member's bytes, by name."""
        return self.unpack(self._last[name])

    def unpack(self, member: zipfile.ZipInfo) -> bytes:
        """A member's bytes, with length and checksum as the directory gives them."""
        where = f"{self.path}: {member.filename}"
        self._stream.seek(member.header_offset)
        head = self._stream.read(_LOCAL)
        if len(head) < _LOCAL or head[:4] != b"PK\x03\x04":
            raise InputError(where, "isn't where the zip's directory says", _WHAT)
        self._stream.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), 1)
        packed = self._stream.read(member.compress_size)
        try:
            data = _unpacked(packed, member.compress_type, member.file_size)
        except (zlib.error, OSError, pa.ArrowException) as error:
            raise InputError(where, f"can't be unpacked: {error}", _WHAT) from None
        if len(packed) != member.compress_size or len(data) != member.file_size or zlib.crc32(data) != member.CRC:
            raise InputError(where, "length or checksum differs from the zip's directory", _WHAT)
        return data


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """An archive whose directory was checked: methods, sizes, overlaps, links, names that climb out, double names."""
    check_file(path, _WHAT)
    try:
        with path.open("rb") as stream:
            _check_directory(path, stream)
            try:
                listed = zipfile.ZipFile(stream).infolist()
            except _BROKEN as error:
                raise _cut_off(path, str(error)) from None
            _check_members(path, listed)
            yield Archive(path, stream, listed)
    except OSError as error:
        raise InputError(path, f"can't be read ({error.strerror or error})", _WHAT) from None


def _cut_off(path: Path, why: str) -> InputError:
    return InputError(path, f"no whole zip ({why})", _WHAT, "if its run was killed, mend it with `inspect log recover`")


def _check_directory(path: Path, stream: BinaryIO) -> None:
    """Bound the directory before it becomes objects; the zip module reads as much as the file claims."""
    length = stream.seek(0, 2)
    start = stream.seek(max(length - 65_536 - 22, 0))
    tail = stream.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < 22:
        raise _cut_off(path, "its directory is missing")
    size = int.from_bytes(tail[at + 12 : at + 16], "little")
    if at >= 20 and tail[at - 20 : at - 16] == _LOCATOR64:
        there = int.from_bytes(tail[at - 12 : at - 4], "little")
        if not 0 <= there <= start + at - 56:
            raise _cut_off(path, "its directory is nowhere")
        stream.seek(there)
        record = stream.read(56)
        if record[:4] == _END64:
            size = max(size if size != 0xFFFFFFFF else 0, int.from_bytes(record[40:48], "little"))
    if size > MAX_DIRECTORY:
        raise InputError(path, f"its directory has {size:,} bytes", f"at most {MAX_DIRECTORY:,}")
    stream.seek(0)


def _check_members(path: Path, listed: list[zipfile.ZipInfo]) -> None:
    packed = path.stat().st_size
    end, unpacked, seen = 0, 0, set()
    for member in sorted(listed, key=lambda m: m.header_offset):
        name = member.filename
        where = f"{path}: {name}"
        if len(name) > MAX_NAME:
            raise InputError(where, f"a name of {len(name):,} characters", f"at most {MAX_NAME:,}")
        if name.startswith("/") or ".." in name.split("/") or "\\" in name or ":" in name.split("/")[0]:
            raise InputError(where, "a name that leads out of the zip", _WHAT)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise InputError(where, "a symbolic link", _WHAT)
        if member.flag_bits & 1:
            raise InputError(where, "is encrypted", _WHAT)
        if member.compress_type not in (_STORED, _DEFLATED, _ZSTANDARD):
            raise InputError(where, f"compression method {member.compress_type}", "0, 8 (deflate) or 93 (Zstandard)")
        if max(member.file_size, member.compress_size) > MAX_MEMBER:
            raise InputError(where, f"{member.file_size:,} bytes", f"at most {MAX_MEMBER:,} each")
        if not 0 <= member.header_offset <= packed - _LOCAL - member.compress_size:
            raise InputError(where, "lies outside of the file", _WHAT)
        if member.header_offset < end:
            raise InputError(where, "shares bytes with another member", _WHAT)
        if name in seen and not _SAMPLE.fullmatch(name):  # a sample that was run again stands beside its first run
            raise InputError(where, "stands twice", "one")
        seen.add(name)
        end = member.header_offset + _LOCAL + member.compress_size
        unpacked += member.file_size
    if unpacked > max(_FREE, MAX_RATIO * packed):
        raise InputError(path, f"unpacks from {packed:,} to {unpacked:,} bytes", f"at most {MAX_RATIO} times as many")


def _unpacked(packed: bytes, method: int, size: int) -> bytes:
    """At most one byte more than the size that was claimed."""
    if method == _STORED:
        return packed
    if method == _DEFLATED:
        return zlib.decompressobj(-15).decompress(packed, size + 1)
    pieces, room = [], size + 1
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        while room > 0 and (piece := stream.read(min(room, 1024 * 1024))):
            pieces.append(piece)
            room -= len(piece)
    return b"".join(pieces)
