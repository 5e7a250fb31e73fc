"""Files of an author's folder as entries, links not followed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from stages.contract import limits
from stages.contract.errors import InputError, MissingInput
from stages.contract.trees import EXECUTABLE, FILE, LINK, Entry


def read_folder(root: Path, where: str) -> list[Entry]:
    """All files below a folder, sorted by path. Raises MissingInput, or InputError for what is no file or link."""
    if root.is_symlink() or not root.is_dir():
        raise MissingInput(where, "is no folder", "a folder with files")
    found: list[Entry] = []

    def failed(error: OSError) -> None:
        raise InputError(where, f"can't be read ({error.strerror})", "a readable folder")

    total = 0
    for folder, names, files in os.walk(root, onerror=failed):
        names.sort()
        links = [name for name in names if (Path(folder) / name).is_symlink()]
        names[:] = [name for name in names if name not in links]
        for name in sorted(files) + links:
            path = Path(folder) / name
            relative = path.relative_to(root).as_posix()
            try:
                relative.encode("utf-8")
            except UnicodeEncodeError:
                raise InputError(
                    where, f"a file name that isn't UTF-8: {relative!a}", "UTF-8 names", "rename it"
                ) from None
            status = path.lstat()
            total += status.st_size
            if status.st_size > limits.MAX_FILE_BYTES or total > limits.MAX_ITEM_BYTES:
                raise InputError(
                    f"{where}/{relative}",
                    f"{status.st_size:,} bytes ({total:,} in all so far)",
                    f"at most {limits.MAX_FILE_BYTES:,} a file and {limits.MAX_ITEM_BYTES:,} in all",
                )
            if stat.S_ISLNK(status.st_mode):
                found.append(Entry(relative, LINK, os.fsencode(os.readlink(path))))
            elif stat.S_ISREG(status.st_mode):
                try:
                    content = path.read_bytes()
                except OSError as error:
                    raise InputError(
                        f"{where}/{relative}", f"can't be read ({error.strerror})", "a readable file"
                    ) from None
                found.append(Entry(relative, EXECUTABLE if status.st_mode & 0o100 else FILE, content))
            else:
                raise InputError(f"{where}/{relative}", "a special file", "files and links only", "delete it")
    return sorted(found)
