"""Reading inputs and writing outputs of a stage so that a failed or disturbed stage changes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from stages.contract import parquet
from stages.contract.digest import file_sha256
from stages.contract.errors import InputError, MissingInput


def replace_bytes(path: Path, data: bytes) -> None:
    """Write by a temporary name and a rename, so that a reader sees the old bytes or the new ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _state(root: Path, inputs: Iterable[Path]) -> dict[Path, str | None]:
    """sha256 of every input file; folders by their files; None for what isn't there."""
    state: dict[Path, str | None] = {}
    for name in inputs:
        path = root / name
        if path.is_dir():
            state.update((p, file_sha256(p)) for p in sorted(path.rglob("*")) if p.is_file() and not p.is_symlink())
        else:
            state[path] = file_sha256(path) if path.exists() else None
    return state


class Outputs:
    """What a stage is going to write, kept until all of it is made."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._writers: list[Callable[[], None]] = []

    def bytes(self, name: Path, data: bytes) -> None:
        """Bytes for a file of the study."""
        self._writers.append(lambda: replace_bytes(self._root / name, data))

    def table(self, name: Path, made: pa.Table) -> None:
        """A table for a file of the study."""
        self._writers.append(lambda: parquet.write(self._root / name, made))

    def commit(self) -> None:
        for write in self._writers:
            write()


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
    before = _state(root, [*wanted, *optional])
    outputs = Outputs(root)
    yield outputs
    after = _state(root, [*wanted, *optional])
    changed = sorted(str(p) for p in before.keys() | after.keys() if before.get(p) != after.get(p))
    if changed:
        raise InputError(changed[0], "changed while the stage was running", "inputs that stand still", "run it again")
    outputs.commit()
