"""Wheels of a task's environment as frozen bytes: named, bounded, and safe to unpack, or refused."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from stages.contract import limits
from stages.contract.errors import InputError, MissingInput, one_line
from stages.contract.task import Environment
from stages.contract.text import read_bytes
from stages.contract.trees import FILE, Entry
from stages.packs.folder import inside


def read_wheels(pack: Path, environment: Environment, where: str, shelf: dict[str, Entry]) -> list[Entry]:
    """The wheels that a task names, in the pack's folder, sorted; `shelf` holds those that another task read already.

    Raises InputError at the first that can't be frozen.
    """
    found: list[Entry] = []
    distributions: dict[str, str] = {}
    for name in sorted(environment.wheels):
        path = inside(pack, name)
        if not path.is_file():
            raise MissingInput(path, "no wheel there", f"the file that {where}: environment names", "put it there")
        file = name.rsplit("/", 1)[-1]
        try:
            distribution = parse_wheel_filename(file)[0]
        except InvalidWheelFilename as error:
            raise InputError(path, one_line(error), "a wheel's name, such as attrs-23.2.0-py3-none-any.whl") from None
        if distribution in distributions:
            raise InputError(path, f"the distribution of {distributions[distribution]} again", "each one once")
        distributions[distribution] = file
        if name not in shelf:
            content = read_bytes(path, limits.MAX_WHEEL_BYTES, "a wheel")
            _check(path, content)
            shelf[name] = Entry(file, FILE, content)
        found.append(shelf[name])
    return found


_AT_START = ("sitecustomize", "usercustomize")  # as a module or a package, and at whatever depth a wheel installs from


def _check(path: Path, content: bytes) -> None:
    """Refuse an archive that could be more than it seems: escapes, links, doubles, bombs."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            broken = None
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        members, broken = [], one_line(error)
    if broken is not None:
        raise InputError(path, f"can't be read ({broken})", "a wheel, which is a zip archive")
    seen: set[str] = set()
    size = 0
    for member in members:
        name = member.filename
        parts = name.rstrip("/").split("/")
        size += member.file_size
        why = None
        if name.startswith("/") or "\\" in name or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
            why = "a path that could leave its folder"
        elif name.casefold() in seen:
            why = "the same path twice"
        elif stat.S_ISLNK(member.external_attr >> 16):
            why = "a link"
        elif member.flag_bits & 1:
            why = "an encrypted member"
        elif len(seen) >= limits.MAX_FILES_PER_ITEM or size > limits.MAX_WHEEL_UNPACKED_BYTES:
            why = f"more than {limits.MAX_FILES_PER_ITEM:,} files or {limits.MAX_WHEEL_UNPACKED_BYTES:,} bytes"
        elif parts[-1].endswith(".pth") or any(part.partition(".")[0] in _AT_START for part in parts):
            why = "a file that Python would execute at its start"
        if why is not None:
            raise InputError(path, f"{why}: {one_line(name, 80)}", "a wheel that only holds its own files")
        seen.add(name.casefold())
    if not any(name.endswith(".dist-info/record") for name in seen):
        raise InputError(path, "no RECORD in it", "a wheel")
