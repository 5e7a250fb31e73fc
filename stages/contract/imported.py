"""A study read from the logs of another harness: its manifest, and the tables that hold what such logs know.

The tables stand where those of a study that ran stand, under the same column names; a column that no log holds isn't
there, and a value that a log doesn't say is null.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import Field

from stages.contract import layout
from stages.contract.digest import digest, rational_text
from stages.contract.errors import InputError
from stages.contract.protocol import Protocol, Study
from stages.contract.task import Sha256
from stages.contract.text import read_json
from stages.contract.types import Label, Name, Strict, Whole, plain, validate

SCHEMA = "weighbridge.imported/1"

_S, _I, _F, _B = pa.string(), pa.int64(), pa.float64(), pa.bool_()
_TRIAL = [pa.field("item_id", _S, False), pa.field("arm", _S, False), pa.field("repeat", _I, False)]


def _schema(name: str, key: str, fields: list[pa.Field]) -> pa.Schema:
    return pa.schema(fields, metadata={"table": f"weighbridge.imported_{name}/1", "key": key})


ITEMS = _schema(
    "items",
    "item_id",
    [
        pa.field("item_id", _S, False),
        pa.field("stratum", _S, False),
        pa.field("cluster", _S),
        pa.field("placebo", _B, False),
        pa.field("item_digest", _S),
    ],
)
TRIALS = _schema(
    "trials",
    "item_id,arm,repeat",
    [
        *_TRIAL,
        pa.field("ended", _S),  # completed, timeout, aborted, lost; null: the log has no outcome
        pa.field("reason", _S),
        pa.field("started_at", _S),
        pa.field("wall_s", _F, metadata={"unit": "s"}),
        pa.field("attempts", _I),
        pa.field("score", _F),
        pa.field("patch_sha256", _S),
        pa.field("evidence", _S),
        pa.field("server_id", _S),
        pa.field("queue_ms", _F, metadata={"unit": "ms"}),
        pa.field("retries", _I),
        pa.field("quota_state", _S),
        pa.field("route_changed", _B),
        pa.field("route_what", _S),
        pa.field("requested_model", _S),
        pa.field("served_model", _S),
        pa.field("served_by", _S),
        pa.field("input_tokens", _I),
        pa.field("output_tokens", _I),
        pa.field("cost_usd", _F),
        pa.field("source", _I, False),
        pa.field("line", _I, False),
    ],
)
LEDGER = _schema(
    "ledger",
    "item_id,arm,repeat",
    [
        *_TRIAL,
        pa.field("stratum", _S, False),
        pa.field("cluster", _S),
        pa.field("placebo", _B, False),
        pa.field("status", _S, False),
        pa.field("passed", _I, False),
        pa.field("late_pass", _B, False),
        pa.field("generated_lines", _I),
        pa.field("invented_imports", _I),
        pa.field("invented_env", _I),
        pa.field("unauthorised_files", _I),
        pa.field("violations", _I),
        pa.field("extended", _I),
    ],
)

ALL = {"items": ITEMS, "trials": TRIALS, "ledger": LEDGER}


class Source(Strict):
    """One path that was read: a file, or a folder as the digest of its files' names and digests."""

    path: Name
    arm: Literal["candidate", "control", "both"]
    format: Name
    files: Whole
    bytes: Whole
    sha256: Sha256


class ImportedArm(Strict):
    """What the logs say of a runner. `facts`: harness, oracle, tools, time_budget, model and the like."""

    name: Name
    version: Name | None
    facts: dict[str, str]


class ImportedArms(Strict):
    candidate: ImportedArm
    control: ImportedArm


class Imported(Strict):
    """`data/frozen/manifest.json` of a study that was read from logs."""

    schema_: Annotated[Literal["weighbridge.imported/1"], Field(alias="schema")] = "weighbridge.imported/1"
    pack_id: Name
    pack_revision: Name
    pack_sha256: Sha256
    slice_id: Sha256
    study_id: Sha256
    study: Study
    protocol: Protocol
    arms: ImportedArms
    sources: list[Source]
    strata: dict[Label, Whole]
    placebos: dict[Label, Whole]
    repeats: Whole
    planned_by: Literal["log", "plan", "protocol"]
    items_rows_sha256: Sha256
    trials_rows_sha256: Sha256
    ledger_rows_sha256: Sha256
    findings_rows_sha256: Sha256
    read_sha256: Sha256

    def sha256(self) -> str:
        """Digest of the manifest's canonical JSON."""
        return digest(self.dump())

    def dump(self) -> dict[str, Any]:
        """JSON-ready data under the file's own key names."""
        return dict(self.model_dump(mode="json", by_alias=True))


def imported_ids(pack: str, protocol: Protocol, arms: ImportedArms) -> tuple[str, str]:
    """(slice id, study id): pack and protocol without its campaign; slice, arms and campaign."""
    agreed = plain(protocol)
    agreed.pop("campaign")
    slice_ = digest({"pack": pack, "protocol": agreed, "imported": True})
    return slice_, digest({"slice": slice_, "arms": plain(arms), "campaign": protocol.campaign})


def is_imported(root: Path) -> bool:
    """Whether a study folder was read from logs."""
    path = root / layout.MANIFEST
    return path.is_file() and read_json(path).get("schema") == SCHEMA


def read_imported(root: Path) -> Imported:
    """The manifest of an imported study, its own ids taken anew. Raises InputError."""
    made = validate(Imported, read_json(root / layout.MANIFEST), layout.MANIFEST)
    if made.protocol.max_excluded_share != 0:
        found = f"{layout.MANIFEST}: protocol.max_excluded_share"
        raise InputError(found, rational_text(made.protocol.max_excluded_share), "0, as in any import", "ingest again")
    if (made.slice_id, made.study_id) != imported_ids(made.pack_sha256, made.protocol, made.arms):
        raise InputError(layout.MANIFEST, "ids that aren't of its own parts", "what ingest wrote", "ingest again")
    return made
