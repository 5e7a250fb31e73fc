"""What a bundle says of itself: which files it holds, by content, and which of the bill's it leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from stages.contract import layout
from stages.contract.task import Sha256
from stages.contract.types import RelPath, Strict, Whole

BUNDLE = Path("bundle.json")
README = Path("README.md")
LICENCE = Path("LICENSE")
STATEMENT = Path("signature/statement.json")
SIGNATURE = Path("signature/statement.json.sig")
MAX_JSON_BYTES = 64 * 1024 * 1024
MAX_JSON_NODES = 4_000_000


class Bundle(Strict):
    """`bundle.json`. `files`: every other member but the signature's, name to sha256."""

    schema_: Annotated[Literal["weighbridge.bundle/1"], Field(alias="schema")] = "weighbridge.bundle/1"
    bill_sha256: Sha256
    files: dict[str, Sha256]
    without: list[str]


class BillFile(Strict):
    """One file of the bill. `rows_sha256` of tables, `json_sha256` of JSON objects."""

    path: RelPath
    stage: str
    bytes: Whole
    sha256: Sha256
    rows_sha256: Sha256 | None = None
    json_sha256: Sha256 | None = None


class Bill(Strict):
    """`reports/bill.json`. Packages and Python are what the report ran on: a note, which nothing derives again."""

    schema_: Annotated[Literal["weighbridge.bill/1"], Field(alias="schema")]
    decision_sha256: Sha256
    manifest_sha256: Sha256
    slice_id: Sha256
    study_id: Sha256
    files: list[BillFile]
    packages: dict[str, str | None]
    python: str


def members(names: list[Path]) -> set[str]:
    """Every name that a bundle may hold, where the bill may list `names`."""
    beside = [BUNDLE, README, LICENCE, STATEMENT, SIGNATURE, layout.REGISTRY, layout.BILL, layout.RUN_BILL]
    return {path.as_posix() for path in [*names, *beside]}


def as_written(model: Strict) -> dict[str, Any]:
    """A model as the file's own keys, those that are absent left out."""
    return dict(model.model_dump(mode="json", by_alias=True, exclude_none=True))
