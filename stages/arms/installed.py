"""The runner of an arm as it is installed: its version as asked of it, the digest of its files."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath

from stages.contract.digest import digest, file_sha256
from stages.contract.errors import InputError, MissingInput
from stages.contract.protocol import Arm

_cache: dict[tuple[str, int, int, int], str] = {}


def install_folders(root: Path, arm: Arm, where: str) -> list[tuple[Path, str]]:
    """(path on this machine, path that the agent sees) of each install path. Raises MissingInput or InputError."""
    result: list[tuple[Path, str]] = []
    for name in arm.install_paths:
        path = (root / name).resolve()
        if not path.exists():
            raise MissingInput(f"params.yaml: {where}.install_paths", f"{name} isn't there", "files of the runner")
        inside = f"/agent/{PurePosixPath(name).name}"
        if any(inside == seen for _, seen in result):
            raise InputError(
                f"params.yaml: {where}.install_paths",
                f"two named {PurePosixPath(name).name}",
                "different names",
            )
        result.append((path, inside))
    return result


def install_digest(folders: list[tuple[Path, str]]) -> str:
    """sha256 over names, modes and bytes of all installed files; caches that Python writes beside them left out."""
    rows = []
    for path, inside in folders:
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if "__pycache__" not in p.parts)
        for file in files:
            status = file.lstat()
            name = f"{inside}/{file.relative_to(path).as_posix()}"
            if stat.S_ISLNK(status.st_mode):
                rows.append([name, "link", os.readlink(file)])
            elif stat.S_ISREG(status.st_mode):
                rows.append([name, oct(status.st_mode & 0o111), _file(file, status)])
    return digest(rows)


def _file(path: Path, status: os.stat_result) -> str:
    key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns)
    if key not in _cache:
        _cache[key] = file_sha256(path)
    return _cache[key]
