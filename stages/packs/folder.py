"""Files of an author's folder as entries, links not followed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from stages.contract import limits
from stages.contract.errors import InputError, MissingInput
from stages.contract.trees import EXECUTABLE, FILE, LINK, Entry


def inside(folder: Path, name: str) -> Path:
    """A path below a folder. Raises InputError where a part of it is a link, which may lead anywhere."""
    path = folder
    for part in name.split("/"):
        path = path / part
        if path.is_symlink():
            raise InputError(path, "is a link", "a file or folder of the task's own", "put a copy there")
    return path


def read_folder(root: Path) -> list[Entry]:
    """All files below a folder, sorted by path. Raises MissingInput, or InputError for what is no file or link."""
    if root.is_symlink() or not root.is_dir():
        raise MissingInput(root, "is no folder" if root.exists() else "isn't there", "a folder with files")
    found: list[Entry] = []
    total = 0

    def failed(error: OSError) -> None:
        raise InputError(root, f"can't be read ({error.strerror})", "a readable folder")

    for folder, names, files in os.walk(root, onerror=failed):
        for name in files + [name for name in names if os.path.islink(os.path.join(folder, name))]:
            entry = _entry(root, os.path.join(folder, name))
            total += len(entry.content)
            if total > limits.MAX_ITEM_BYTES or len(found) >= limits.MAX_FILES_PER_ITEM:
                raise InputError(
                    root,
                    f"more than {limits.MAX_FILES_PER_ITEM:,} files or {limits.MAX_ITEM_BYTES:,} bytes",
                    "a smaller folder",
                )
            found.append(entry)
    return sorted(found)


def _entry(root: Path, path: str) -> Entry:
    """One file. Raises InputError."""
    name = os.path.relpath(path, root)
    try:
        name.encode("utf-8")
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return Entry(name, LINK, os.fsencode(os.readlink(path)))
        if not stat.S_ISREG(status.st_mode):
            raise InputError(path, "is a special file", "files and links only", "delete it")
        if status.st_size > limits.MAX_FILE_BYTES:
            raise InputError(path, f"{status.st_size:,} bytes", f"at most {limits.MAX_FILE_BYTES:,} a file")
        with open(path, "rb") as stream:
            return Entry(name, EXECUTABLE if status.st_mode & 0o100 else FILE, stream.read())
    except UnicodeEncodeError:
        raise InputError(path, "a file name that isn't UTF-8", "UTF-8 names", "rename it") from None
    except OSError as error:
        raise InputError(path, f"can't be read ({error.strerror})", "a readable file") from None
