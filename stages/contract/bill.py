"""The bill of materials: every file that the decision was derived from, by content."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from stages.contract import imported, layout, parquet, tables
from stages.contract.digest import digest, file_sha256, sha256
from stages.contract.imported import is_imported
from stages.contract.text import read_json

PACKAGES = ("weighbridge", "dvc", "gitpython", "numpy", "pandas", "pyarrow", "pydantic", "pytest", "scipy")

PARTS: list[tuple[Path, str, str | None]] = [
    (layout.PLAN, "freeze", None),
    (layout.MANIFEST, "freeze", None),
    (layout.ITEMS, "freeze", "items"),
    (layout.TREES, "freeze", "trees"),
    (layout.HIDDEN, "freeze", "hidden"),
    (layout.ADMITTED, "preflight", None),
    (layout.CHECKS, "preflight", "checks"),
    (layout.TRIALS, "run", "trials"),
    (layout.PATCHES, "run", "patches"),
    (layout.STAMPS, "run", "stamps"),
    (layout.CALLS, "run", "calls"),
    (layout.TRANSCRIPTS, "run", "transcripts"),
    (layout.REPLACED, "run", "replaced"),
    (layout.CAMPAIGN, "run", None),
    (layout.INGEST, "ingest", None),
    (layout.LEDGER, "score", "ledger"),
    (layout.FINDINGS, "score", "findings"),
    (layout.VERDICTS, "score", "verdicts"),
    (layout.EVENTS, "authored", None),
    (layout.REHEARSALS, "authored", None),
    (layout.PAIRS, "exclude", "pairs"),
    (layout.EXCLUSIONS, "exclude", "exclusions"),
]


def file_row(root: Path, name: Path, stage: str, kind: str | None) -> dict[str, Any]:
    """Path, stage, size and digests of one file; JSON also by its canonical form, tables by their rows."""
    path = root / name
    row: dict[str, Any] = {
        "path": name.as_posix(),
        "stage": stage,
        "bytes": path.stat().st_size,
        "sha256": file_sha256(path),
    }
    if kind is not None:
        own = kind in imported.ALL and is_imported(root)
        row["rows_sha256"] = parquet.rows_sha256(parquet.read(path, (imported.ALL if own else tables.ALL)[kind]))
    elif name.suffix == ".json":
        row["json_sha256"] = digest(read_json(path))
    return row


def make_bill(root: Path, made: dict[Path, bytes], decision: dict[str, Any]) -> dict[str, Any]:
    """The bill of a decision. `made` are the report's own files, which don't lie on the disk yet."""
    files = [file_row(root, name, stage, kind) for name, stage, kind in PARTS if (root / name).exists()]
    files += [
        {"path": name.as_posix(), "stage": "report", "bytes": len(data), "sha256": sha256(data)}
        for name, data in sorted(made.items())
    ]
    return {
        "schema": "weighbridge.bill/1",
        "decision_sha256": digest(decision),
        "manifest_sha256": decision["manifest_sha256"],
        "slice_id": decision["slice_id"],
        "study_id": decision["study_id"],
        "files": sorted(files, key=lambda row: str(row["path"])),
        "packages": {name: installed_version(name) for name in PACKAGES},
        "python": platform.python_version(),
    }


def run_bill(bill: dict[str, Any], bill_bytes: bytes) -> bytes:
    """The same digests as lines for `sha256sum -c`, run from the study's root."""
    lines = [f"{row['sha256']}  {row['path']}\n" for row in bill["files"]]
    return "".join([*lines, f"{sha256(bill_bytes)}  {layout.BILL.as_posix()}\n"]).encode()


def installed_version(name: str) -> str | None:
    """Version of an installed distribution, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
