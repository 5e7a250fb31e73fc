"""Reading inputs and writing outputs of a stage so that a failed or disturbed stage changes nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stages.contract.digest import file_sha256
from stages.contract.errors import InputError, MissingInput

if TYPE_CHECKING:
    import pyarrow as pa


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def replace_bytes(path: Path, data: bytes) -> None:
    """Write by a temporary name and a rename, so that a reader sees the old bytes or the new ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path)
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _state(root: Path, inputs: Iterable[Path]) -> dict[str, str | None]:
    """What each input holds: sha256 of a file, target of a link, kind of anything else; None for what isn't there."""
    state: dict[str, str | None] = {}
    for name in inputs:
        top = root / name
        if not top.is_dir():
            state[str(top)] = _held(top, follow=True) if top.exists() else None
            continue
        for folder, folders, files in os.walk(top):
            for each in (*folders, *files):
                path = Path(folder, each)
                state[str(path)] = _held(path, follow=False)
    return state


def _held(path: Path, *, follow: bool) -> str:
    try:
        mode = path.stat(follow_symlinks=follow).st_mode
        if stat.S_ISREG(mode):
            return f"{mode & 0o100:o} {file_sha256(path)}"
        return f"link to {os.readlink(path)}" if stat.S_ISLNK(mode) else f"kind {stat.S_IFMT(mode):o}"
    except OSError as error:
        return f"can't be read ({error.strerror})"  # whoever reads it next says so


class Outputs:
    """What a stage is going to write, kept until all of it is made."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._writers: list[tuple[Path, Callable[[Path], object]]] = []

    def bytes(self, name: Path, data: bytes) -> None:
        """Bytes for a file of the study."""
        self._writers.append((name, lambda path: path.write_bytes(data)))

    def table(self, name: Path, made: pa.Table) -> None:
        """A table for a file of the study."""
        from stages.contract import parquet  # pyarrow is slow to import

        self._writers.append((name, lambda path: parquet.write(path, made)))

    def commit(self) -> None:
        """Write all files beside their places, then move them there: a full disk leaves the old ones whole."""
        moves: list[tuple[Path, Path]] = []
        name = Path()
        try:
            for name, write in self._writers:
                path = self._root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                moves.append((_temporary(path), path))
                if path.is_dir():
                    raise IsADirectoryError(0, "a folder is in its place")
                write(moves[-1][0])
            for temporary, path in moves:
                name = path
                os.replace(temporary, path)
        except OSError as error:
            raise InputError(name, f"can't be written ({error.strerror})", "a place for it", "make room") from None
        finally:
            for temporary, _ in moves:
                temporary.unlink(missing_ok=True)


@contextmanager
def stage(root: Path, inputs: Iterable[Path], optional: Iterable[Path] = ()) -> Iterator[Outputs]:
    """A stage: inputs must be there and must be the same bytes at its end, or nothing is written.

    DVC takes its hashes after the command, so an input edited meanwhile would be recorded as what was read.
    Raises MissingInput or InputError.
    """
    wanted = list(inputs)
    for name in wanted:
        if not (root / name).exists():
            raise MissingInput(
                name,
                "isn't there",
                "an output of an earlier stage",
                "run `dvc repro`, or `dvc pull` to fetch it",
            )
    watched = [*wanted, *optional]
    before = _state(root, watched)
    outputs = Outputs(root)
    yield outputs
    after = _state(root, watched)
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    if changed:
        raise InputError(changed[0], "changed while the stage was running", "inputs that stand still", "run it again")
    outputs.commit()
