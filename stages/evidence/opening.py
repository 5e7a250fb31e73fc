"""A project, a study's folder or a bundle, opened as a folder; everything in it is a stranger's until it is hashed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stages.contract import bundled, layout
from stages.contract.bill import PARTS
from stages.contract.bundled import Bundle
from stages.contract.digest import file_sha256, pretty
from stages.contract.errors import InputError, MissingInput, WeighbridgeError
from stages.contract.text import read_bytes, read_json
from stages.contract.types import validate
from stages.evidence.archive import read_archive

REPORTS = [layout.DECISION, layout.METRICS, layout.REPORT_MD, layout.REPORT_HTML]
PARTS_OF_BILL = [name for name, _, _ in PARTS] + REPORTS


@dataclass(frozen=True)
class Opened:
    """`root` is where the study's files lie. `bundle` is None for a folder."""

    root: Path
    bundle: Bundle | None = None
    signed: bool = False

    @property
    def without(self) -> list[str]:
        """Files of the bill that were left out on purpose."""
        return [] if self.bundle is None else self.bundle.without


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """Open a folder, or unpack a bundle into a temporary one. Raises MissingInput or InputError."""
    if path.is_dir():
        yield Opened(path)
        return
    if not path.is_file():
        raise MissingInput(path, "isn't there", "a study's folder, or a bundle")
    with tempfile.TemporaryDirectory(prefix="weighbridge-") as folder:
        root = Path(folder)
        names = read_archive(path, root, bundled.members(PARTS_OF_BILL))
        try:
            yield Opened(root, _described(path, root, names), bundled.SIGNATURE.as_posix() in names)
        except WeighbridgeError as error:  # a place in the temporary folder tells nobody anything
            where = error.where.replace(f"{folder}{os.sep}", f"{path}: ")
            raise type(error)(where, error.found, error.expected, error.todo) from None


def _described(path: Path, root: Path, names: list[str]) -> Bundle:
    if bundled.BUNDLE.as_posix() not in names:
        raise InputError(path, f"holds no {bundled.BUNDLE}", "a bundle as `weighbridge bundle` writes it")
    said = validate(Bundle, read_json(root / bundled.BUNDLE, bundled.MAX_JSON_BYTES), f"{path}: {bundled.BUNDLE}")
    if (root / bundled.BUNDLE).read_bytes() != pretty(bundled.as_written(said)):
        raise InputError(
            f"{path}: {bundled.BUNDLE}", "isn't written as it would be", "sorted JSON, as bundle writes it"
        )
    signature = {bundled.STATEMENT.as_posix(), bundled.SIGNATURE.as_posix()}
    if len(signature & set(names)) == 1:
        raise InputError(path, "half a signature", "a statement with its signature, or neither")
    held = set(names) - signature - {bundled.BUNDLE.as_posix()}
    odd = sorted(held ^ set(said.files))
    if odd:
        raise InputError(f"{path}: {odd[0]}", f"isn't in both, the archive and {bundled.BUNDLE}", "the same files")
    return said


def bundle_differs(found: Opened) -> list[str]:
    """What in a bundle isn't what its own list says."""
    if found.bundle is None:
        return []
    return [
        f"{name}: sha256 {held[:16]}, expected {wanted[:16]} as {bundled.BUNDLE} says"
        for name, wanted in sorted(found.bundle.files.items())
        if (held := file_sha256(found.root / name)) != wanted
    ]


def check_json_sizes(root: Path) -> None:
    """Raise InputError where a JSON file is too large, or of too many parts, to be read safely."""
    for name in [*PARTS_OF_BILL, layout.BILL, layout.REGISTRY, bundled.STATEMENT]:
        path = root / name
        if name.suffix not in (".json", ".jsonl") or not path.is_file():
            continue
        data = read_bytes(path, bundled.MAX_JSON_BYTES, "a JSON file")
        nodes = data.count(b",") + data.count(b"[") + data.count(b"{")
        if nodes > bundled.MAX_JSON_NODES:
            raise InputError(name, f"{nodes:,} values", f"at most {bundled.MAX_JSON_NODES:,}")
