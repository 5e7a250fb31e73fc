"""Bundles for tests: a finished study as files in memory, edited, with every digest above the edit made right again."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from stages.contract import bundled, imported, layout, parquet, tables
from stages.contract.bill import PARTS, make_bill, run_bill
from stages.contract.digest import file_sha256, pretty
from stages.contract.imported import is_imported
from stages.evidence.archive import write_archive
from stages.evidence.bundling import bundle
from stages.evidence.opening import REPORTS
from stages.evidence.verify import verify

KINDS = {name: kind for name, _, kind in PARTS if kind is not None}
Edit = Callable[[Path], object]


def make_bundle(root: Path, out: Path, **more: Any) -> Path:
    """The bundle of a study's folder."""
    bundle(root, out, **{"without_hidden": False, "key": None, "licence": None, **more})
    return out


def members(path: Path) -> dict[str, bytes]:
    """Name to bytes of what an archive holds."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rezip(files: Mapping[str, bytes], folder: Path, out: Path) -> Path:
    """An archive of these files, as the package writes one."""
    shutil.rmtree(folder, ignore_errors=True)
    paths = {}
    for number, (name, data) in enumerate(files.items()):
        paths[name] = folder / str(number)
        paths[name].parent.mkdir(parents=True, exist_ok=True)
        paths[name].write_bytes(data)
    write_archive(out, paths)
    return out


def edit_rows(root: Path, name: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the rows of a table in place."""
    kind = KINDS[name]
    schema = (imported.ALL if is_imported(root) and kind in imported.ALL else tables.ALL)[kind]
    rows = parquet.read(root / name, schema).to_pylist()
    change(rows)
    parquet.write(root / name, parquet.table(schema, rows))


def edit_json(root: Path, name: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change an object in place."""
    made = json.loads((root / name).read_bytes())
    change(made)
    (root / name).write_bytes(pretty(made))


def rehash(root: Path) -> None:
    """Make the bill right again after an edit, as whoever edited would: its digests, and those of the files beside it."""
    decision = json.loads((root / layout.DECISION).read_bytes())
    made = {name: (root / name).read_bytes() for name in REPORTS}
    bill = make_bill(root, made, decision)
    (root / layout.BILL).write_bytes(pretty(bill))
    (root / layout.RUN_BILL).write_bytes(run_bill(bill, pretty(bill)))


def verifies(root: Path) -> dict[str, Any]:
    """The decision of a study that the pipeline wrote, which must verify whatever it is."""
    found = verify(root)
    assert [line for check in found.checks for line in check.differs] == []
    assert found.decision == json.loads((root / layout.DECISION).read_bytes())
    return found.decision


def keypair(folder: Path, name: str) -> tuple[Path, str]:
    """(private key, line for a file of allowed signers)."""
    key = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)], check=True)
    return key, f"{name}@example.org {key.with_suffix('.pub').read_text()}"


def stored(files: Mapping[str, bytes], **infos: Any) -> bytes:
    """An archive that isn't one of ours: written by hand, with what `infos` says of its members."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", infos.pop("compression", zipfile.ZIP_STORED)) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, infos.get("mode", 0o100644) << 16
            info.compress_type = archive.compression
            archive.writestr(info, data)
    return made.getvalue()


def table_bytes(made: pa.Table, **more: Any) -> bytes:
    """Any table as Parquet."""
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(made, sink, **more)
    return sink.getvalue()


def said_digests(files: Mapping[str, bytes], folder: Path) -> dict[str, bytes]:
    """The same members with a bundle.json that fits them."""
    out = dict(files)
    said = json.loads(out.pop(bundled.BUNDLE.as_posix()))
    signature = {bundled.STATEMENT.as_posix(), bundled.SIGNATURE.as_posix()}
    folder.mkdir(parents=True, exist_ok=True)
    digests = {}
    for name, data in out.items():
        if name not in signature:
            (folder / "x").write_bytes(data)
            digests[name] = file_sha256(folder / "x")
    said |= {"files": digests, "bill_sha256": digests[layout.BILL.as_posix()]}
    return {**out, bundled.BUNDLE.as_posix(): pretty(said)}
