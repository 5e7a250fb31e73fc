"""The bundle as a ZIP file: written so that the same files give the same bytes, read as a stranger's.

Members are stored, not packed (tables are packed already, and another zlib would give other bytes), in order of their
names, with one fixed time. Whoever reads one writes it again and compares, so no byte of it goes unread.
"""

from __future__ import annotations

import shutil
import stat
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from stages.contract.errors import InputError, one_line

TIME = (1980, 1, 1, 0, 0, 0)
MODE = stat.S_IFREG | 0o644
MAX_MEMBERS = 64
MAX_NAME_CHARS = 200
MAX_BYTES = 4 * 1024**3 - 1
MAX_DIRECTORY_BYTES = MAX_MEMBERS * (46 + MAX_NAME_CHARS)
_BLOCK = 1 << 20
_WHAT = "a bundle as `weighbridge bundle` writes it"


def write_archive(out: Path, files: Mapping[str, Path]) -> None:
    """Write `files` (name in the archive to where it lies) as one archive at `out`."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, strict_timestamps=True) as made:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, TIME)
            info.create_system, info.external_attr = 3, MODE << 16
            info.file_size = files[name].stat().st_size
            with files[name].open("rb") as source, made.open(info, "w", force_zip64=False) as target:
                shutil.copyfileobj(source, target, _BLOCK)


def read_archive(path: Path, folder: Path, known: Iterable[str]) -> list[str]:
    """Unpack an archive below `folder`, an empty one, and return its members' names.

    Raises InputError where it holds a member that isn't `known`, one twice, or anything that `write_archive` wouldn't
    have written. Nothing is written outside of `folder`.
    """
    allowed = frozenset(known)
    held = path.stat().st_size
    if held > MAX_BYTES:
        raise InputError(path, f"is larger than {MAX_BYTES:,} bytes", f"at most {MAX_BYTES:,}")
    try:
        _check_end(path, held)
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check(path, members, allowed, held)
            for member in members:
                target = folder / member.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                _copy(path, archive, member, target)
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        raise InputError(path, f"can't be read as a ZIP file ({one_line(error)})", _WHAT) from None
    names = [member.filename for member in members]
    _same_bytes(path, folder, names)
    return names


def _check_end(path: Path, held: int) -> None:
    """Refuse a directory of members that is too large before it is read."""
    with path.open("rb") as stream:
        stream.seek(max(0, held - 22))
        end = stream.read(22)
    if len(end) < 22 or end[:4] != b"PK\5\6" or end[20:] != b"\0\0":
        raise InputError(path, "doesn't end as a ZIP file without a comment", _WHAT)
    count, size = int.from_bytes(end[10:12], "little"), int.from_bytes(end[12:16], "little")
    if count > MAX_MEMBERS or size > MAX_DIRECTORY_BYTES:
        raise InputError(path, f"{count:,} members, listed in {size:,} bytes", f"at most {MAX_MEMBERS}")


def _check(path: Path, members: list[zipfile.ZipInfo], allowed: frozenset[str], held: int) -> None:
    seen: set[str] = set()
    total = 0
    for member in members:
        name = member.filename
        where = f"{path}: {name[:MAX_NAME_CHARS]}"
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts or "\\" in name or ":" in name or pure.as_posix() != name:
            raise InputError(where, "a name that leads elsewhere", "a plain relative path")
        if name in seen:
            raise InputError(where, "stands twice", "each member once")
        if name not in allowed:
            raise InputError(where, "is no part of a bundle", _WHAT)
        if member.flag_bits & 0x1:
            raise InputError(where, "is encrypted", _WHAT)
        if member.external_attr >> 16 != MODE:
            raise InputError(where, f"mode {member.external_attr >> 16:o}", "a regular file (no link, no folder)")
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            raise InputError(where, "is packed", "members that are stored as they are")
        seen.add(name)
        total += member.file_size
    if total > held:
        raise InputError(path, f"members of {total:,} bytes in a file of {held:,}", "no more than it holds")


def _copy(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    left = member.file_size
    with archive.open(member) as source, target.open("xb") as sink:
        while block := source.read(_BLOCK):
            left -= len(block)
            if left < 0:
                raise InputError(f"{path}: {member.filename}", "is longer than it says", _WHAT)
            sink.write(block)


def _same_bytes(path: Path, folder: Path, names: list[str]) -> None:
    again = folder / ".again"
    try:
        write_archive(again, {name: folder / name for name in names})
        with path.open("rb") as one, again.open("rb") as two:
            at = 0
            while True:
                a, b = one.read(_BLOCK), two.read(_BLOCK)
                if a != b:
                    first = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
                    raise InputError(path, f"byte {at + first:,} isn't what its members give", _WHAT)
                if not a:
                    return
                at += len(a)
    finally:
        again.unlink(missing_ok=True)
