"""The runner of an arm as it is installed: its version as asked of it, the digest of its files."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from stages.contract.digest import digest, file_sha256
from stages.contract.errors import InputError, MissingInput
from stages.contract.protocol import Arm
from stages.sandbox import Isolation, Outcome, run

_cache: dict[tuple[str, int, int, int, int], str] = {}


def install_folders(root: Path, arm: Arm, where: str) -> list[tuple[Path, str]]:
    """(path on this machine, path that the agent sees) of each install path. Raises MissingInput or InputError."""
    result: list[tuple[Path, str]] = []
    for name in arm.install_paths:
        path = (root / name).resolve()
        if not path.exists():
            raise MissingInput(f"params.yaml: {where}.install_paths", f"{name} isn't there", "files of the runner")
        _refuse_overlap(root.resolve(), path, f"params.yaml: {where}.install_paths", name)
        inside = f"/agent/{PurePosixPath(name).name}"
        if any(inside == seen for _, seen in result):
            raise InputError(
                f"params.yaml: {where}.install_paths",
                f"two named {PurePosixPath(name).name}",
                "different names",
            )
        result.append((path, inside))
    return result


_OURS = ("data/frozen", "data/preflight", "data/trials", "data/ledger", "data/kept", ".trials", ".git", ".dvc")


def _refuse_overlap(root: Path, path: Path, where: str, name: str) -> None:
    """Refuse an install path that would show the agent what it must not see: the pack, our tables, the repository."""
    ours = [root / part for part in _OURS] + [pack.parent.resolve() for pack in root.glob("**/pack.yaml")]
    for folder in ours:
        if path == folder or path.is_relative_to(folder) or folder.is_relative_to(path):
            what = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else folder.name
            raise InputError(where, f"{name} overlaps {what}", "the runner's own files only", "move them")


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
    key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if key not in _cache:
        _cache[key] = file_sha256(path)
    return _cache[key]


def fill(word: str, values: dict[str, str]) -> str:
    """A word of argv with its placeholders filled, in one pass: what is filled in is never read again."""
    known = "|".join(map(re.escape, values))
    return re.sub(r"\{(" + known + r")\}", lambda found: values[found[1]], word)


def check_runner(root: Path, arm: Arm, name: str, isolation: Isolation, say: Callable[[str], None]) -> str | None:
    """What the runner says of its own version, or None where the arm has no `version_command`.

    Raises InputError if its program can't be found inside the sandbox, if the version command fails, or if what it
    says doesn't hold the pinned version: a campaign with another runner than the one agreed on isn't started.
    """
    folders = install_folders(root, arm, f"arms.{name}")
    install = isolation.place(*folders[0]) if folders else ""
    program = fill(arm.command[0], {"install": install})
    if "{" in program:  # it depends on the trial
        return _ask_version(arm, name, folders, install, isolation, say)
    found = _once(["sh", "-c", 'command -v -- "$1"', "sh", program], folders, isolation)
    if found.launch_failed or found.exit_code != 0:
        why = found.launch_failed or f"{program!r} can't be found where agents run"
        raise InputError(
            f"params.yaml: arms.{name}.command",
            why,
            "a program on PATH or below {install}",
            "see install_paths",
        )
    return _ask_version(arm, name, folders, install, isolation, say)


def _ask_version(
    arm: Arm,
    name: str,
    folders: list[tuple[Path, str]],
    install: str,
    isolation: Isolation,
    say: Callable[[str], None],
) -> str | None:
    if arm.version_command is None:
        say(f"arm {name}: no version_command, so its version {arm.version} is taken on trust")
        return None
    outcome = _once([fill(word, {"install": install}) for word in arm.version_command], folders, isolation)
    where = f"params.yaml: arms.{name}.version_command"
    said = (outcome.stdout or outcome.stderr).decode("utf-8", "replace").strip().splitlines()[:1]
    if outcome.launch_failed or outcome.timed_out or outcome.exit_code != 0 or not said:
        why = outcome.launch_failed or (
            "timed out" if outcome.timed_out else f"ended with exit code {outcome.exit_code}"
        )
        raise InputError(where, why, "a command that prints the runner's version", "try it by hand")
    if arm.version.lstrip("v") not in {word.strip("v,;()") for word in said[0].replace("/", " ").split()}:
        raise InputError(where, f"the runner says {said[0]!r}", f"the pinned {arm.version}", "pin what is installed")
    return said[0][:200]


def _once(argv: list[str], folders: list[tuple[Path, str]], isolation: Isolation) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="wb-") as base:
        return run(
            argv,
            isolation=isolation,
            workspace=Path(base),
            read_only=folders if isolation.tier != "none" else [],
            env={},
            timeout_s=60.0,
            output_cap=10_000,
        )
