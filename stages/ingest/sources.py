"""Which format a log has, and its bytes as one digest."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from stages.contract.digest import digest, file_sha256
from stages.contract.errors import InputError, MissingInput
from stages.ingest.formats import FORMATS
from stages.ingest.model import Format

MAX_FILES = 1_000_000


def format_of(paths: Sequence[Path], wanted: str) -> Format:
    """The format that all paths have. Raises InputError naming the first path that has another, or none."""
    if wanted != "auto":
        found = next((f for f in FORMATS if f.name == wanted), None)
        if found is None:
            raise InputError("--format", wanted, f"auto or one of {', '.join(f.name for f in FORMATS)}")
        for path in paths:
            _there(path)
        return found
    kinds: list[Format] = []
    for path in paths:
        _there(path)
        found = next((f for f in FORMATS if f.sniff(path)), None)
        if found is None:
            raise InputError(
                path,
                "no format that is known",
                f"a log of {', '.join(f.name for f in FORMATS)}",
                "name it with --format, or bring a table (see the README)",
            )
        kinds.append(found)
    if len({f.name for f in kinds}) > 1:
        other = next(i for i, f in enumerate(kinds) if f.name != kinds[0].name)
        raise InputError(paths[other], f"looks like {kinds[other].name}", f"{kinds[0].name} as {paths[0]}")
    return kinds[0]


def _there(path: Path) -> None:
    if not path.exists():
        raise MissingInput(path, "doesn't exist", "a log")
    if not path.is_file() and not path.is_dir():
        raise InputError(path, "is no regular file", "a log")  # a pipe or a device may never end
    if path.is_file() and not path.stat().st_size:
        raise InputError(path, "is empty", "a log")


def digest_of(path: Path) -> tuple[int, int, str]:
    """(files, bytes, sha256) of a file, or of a folder by its files' names and digests, links not followed."""
    try:
        if not path.is_dir():
            return 1, path.stat().st_size, file_sha256(path)
        held: dict[str, str] = {}
        size = 0
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in names:
                file = Path(folder, name)
                if file.is_symlink() or not file.is_file():
                    continue
                held[file.relative_to(path).as_posix()] = file_sha256(file)
                size += file.stat().st_size
                if len(held) > MAX_FILES:
                    raise InputError(path, f"more than {MAX_FILES:,} files", "a log")
        return len(held), size, digest(held)
    except OSError as error:
        raise InputError(path, f"can't be read ({error.strerror})", "a log") from None
    except UnicodeError:
        raise InputError(path, "a file whose name isn't UTF-8", "a log") from None
