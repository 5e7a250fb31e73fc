"""What freeze writes: the plan (what changes what happens in a trial) and the manifest (plan and protocol).

Identity: `pack_sha256` over the items; `slice_id` = pack and protocol without its campaign; `study_id` = slice,
both arms and campaign; `plan_sha256` and `manifest_sha256` over the canonical JSON of the two files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, SerializerFunctionWrapHandler, model_serializer, model_validator

from stages.contract.arm import Arms
from stages.contract.digest import digest
from stages.contract.protocol import OracleParams, Protocol, Study, Tools
from stages.contract.task import Allow, Interface, Oracle, Seed, Sha256
from stages.contract.types import Id, Rational, RelPath, Strict, Whole, plain, without_none

RUN_SEMANTICS = 3
"""Bumped by hand when the harness changes what a trial means; finished trials of another number aren't reused."""


BESIDE = " (beside the tests)"
"""Ends the reason of a verdict that was found in the tests' own process, where it should have been found apart."""


class FrozenEnvironment(Strict):
    """A task's interpreter and its wheels, file name to sha256; the bytes lie in `trees` under the role `wheel`."""

    python: str
    wheels: dict[str, Sha256]


class PlanItem(Strict):
    """One frozen item, all of its bytes named by digest."""

    item_id: Id
    rev: Id
    stratum: Id
    cluster: Id | None
    placebo: bool
    time_budget_s: Whole
    prompt_path: RelPath
    prompt_sha256: Sha256
    interface: Interface | None
    allow: Allow
    oracle: Oracle
    canaries: list[str]
    environment: FrozenEnvironment | None = None
    source: dict[str, str]
    tree_sha256: Sha256
    tree_git: str
    oracle_sha256: Sha256
    solution_sha256: Sha256 | None
    item_sha256: Sha256


class Block(Strict):
    """One (item, repeat) of the registered schedule; the arms run back to back, in this order."""

    item_id: Id
    repeat: Whole
    first: Literal["candidate", "control"]


class Plan(Strict):
    """`data/frozen/plan.json`."""

    schema_: Annotated[Literal["weighbridge.plan/1"], Field(alias="schema")] = "weighbridge.plan/1"
    run_semantics: Whole = RUN_SEMANTICS
    pack_id: Id
    pack_revision: Id
    pack_sha256: Sha256
    items_rows_sha256: Sha256
    trees_rows_sha256: Sha256
    hidden_rows_sha256: Sha256
    arms: Arms
    campaign: Id
    trial_budget: Whole
    time_budget_s: Whole
    retry_ceiling: Whole
    tools: Tools
    isolation: Literal["auto", "namespaces", "none"]
    items: list[PlanItem]
    schedule: list[Block]

    @model_validator(mode="after")
    def _whole(self) -> Plan:
        ids = [item.item_id for item in self.items]
        if sorted(set(ids)) != ids:
            raise ValueError("items: each once, sorted by item_id")
        blocks = sorted((block.item_id, block.repeat) for block in self.schedule)
        if self.schedule and blocks != sorted((i, r) for i in ids for r in range(self.trial_budget)):
            raise ValueError("schedule: each repeat of each item once")
        return self

    _sha256: str | None = PrivateAttr(default=None)

    def sha256(self) -> str:
        """Digest of the plan's canonical JSON. Taken once: a plan of 500 items is a hundred thousand characters."""
        if self._sha256 is None:
            self._sha256 = digest(dump(self))
        return self._sha256

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Plan:
        """A copy, which takes its own digest."""
        made = super().model_copy(update=update, deep=deep)
        made._sha256 = None
        return made


class Manifest(Strict):
    """`data/frozen/manifest.json`: the plan's digest and the whole protocol."""

    schema_: Annotated[Literal["weighbridge.manifest/1"], Field(alias="schema")] = "weighbridge.manifest/1"
    plan_sha256: Sha256
    pack_id: Id
    pack_revision: Id
    pack_sha256: Sha256
    slice_id: Sha256
    study_id: Sha256
    study: Study
    selection: str | None
    protocol: Protocol
    envelope_sha256: Sha256
    oracle: OracleParams
    arms: Arms
    strata: dict[Id, Whole]
    placebos: dict[Id, Whole]
    alpha_first_look: Rational
    mde80: float | None
    mde80_why: str | None = None
    mutation_seed: Seed | None = None

    @model_serializer(mode="wrap")
    def _as_ever(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_none(handler(self), "mutation_seed")

    def sha256(self) -> str:
        """Digest of the manifest's canonical JSON."""
        return digest(dump(self))


class Admission(Strict):
    """Preflight's word on one item: admitted, with the test ids that a verdict must hold, or the rule against it."""

    admitted: bool
    rule: str | None
    expected: list[str] | None
    events: list[str] = []
    placebo_passed: bool = False
    boundary: Literal["inprocess", "process"] = "inprocess"


class Admitted(Strict):
    """`data/preflight/admitted.json`."""

    schema_: Annotated[Literal["weighbridge.admitted/1"], Field(alias="schema")] = "weighbridge.admitted/1"
    plan_sha256: Sha256
    items: dict[Id, Admission]


def dump(model: Plan | Manifest) -> dict[str, Any]:
    """JSON-ready data under the file's own key names."""
    value = model.model_dump(mode="json", by_alias=True)
    return dict(value)


def slice_id(pack_sha256: str, protocol: Protocol, oracle: OracleParams) -> str:
    """Digest of pack and protocol, the campaign aside; any edit gives another one."""
    agreed = plain(protocol)
    agreed.pop("campaign")
    return digest({"pack": pack_sha256, "protocol": agreed, "oracle": plain(oracle)})


def study_id(slice_: str, arms: Arms, campaign: str) -> str:
    """Digest of slice, both arms and campaign."""
    return digest({"slice": slice_, "arms": plain(arms), "campaign": campaign})
