"""The decision as a model: what `reports/decision.json` holds, for readers and for its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from stages.contract.task import Sha256


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Runner(_Part):
    name: str
    version: str


class Counts(_Part):
    """Trials of real items, and placebo trials apart: planned = scored + excluded + missing."""

    planned: int
    scored: int
    excluded: int
    missing: int
    pairs_kept: int
    items_seen: int
    items_kept: int
    placebos_run: int
    placebos_passed: int


class Summary(_Part):
    """The blocked paired difference. Null is unknown."""

    delta: float | None
    lo: float | None
    hi: float | None
    interval_why: str | None
    alpha: float
    alpha_spent: float
    tail_level: float | None
    p_sign_flip: float | None
    kind: Literal["exact", "bracket", "none"]
    bracket_width: float | None
    df: float | None
    mde80: float | None
    mde80_planned: float | None
    mde80_planned_exceeds_minimum: bool
    delta_equal: float | None
    delta_proportional: float | None


class StratumResult(_Part):
    items_planned: int
    items: int
    wins: int
    losses: int
    ties: int
    delta: float | None
    lo: float | None
    hi: float | None
    interval_why: str | None = None
    case_series: bool
    merged_into: str | None
    series: list[dict[str, Any]] | None = None


class Decision(_Part):
    """`weighbridge.decision/1`. For a study that is no benchmark, everything with a rate in it is null."""

    schema_: Annotated[Literal["weighbridge.decision/1"], Field(alias="schema")]
    decision: Literal["publish", "withhold"]
    reason: str
    reasons: list[str]
    reason_details: dict[str, str]
    would_publish: bool
    headline: str | None
    headline_why: str | None = None
    pack_id: str
    pack_revision: str
    slice_id: Sha256
    study_id: Sha256
    manifest_sha256: Sha256
    registration: Literal["none", "self_dated", "witnessed"]
    isolation: dict[str, Any]
    looks: dict[str, Any]
    mode: Literal["benchmark", "exploratory", "tutorial"]
    disclosure: dict[str, str | None]
    departures: list[str]
    candidate: Runner
    control: Runner
    counts: Counts
    placebo_bound: float
    dropped: list[str]
    summary: Summary | None
    strata: dict[str, StratumResult] | None
    arms: dict[str, dict[str, Any]] | None
    win_rate: dict[str, Any] | None
    sensitivity: dict[str, Any] | None
    exclusions: dict[str, dict[str, int]]
    asymmetry: dict[str, Any]
    excluded_share: dict[str, Any]
    started_at: str
    protocol: dict[str, Any]
    findings_of_read: list[dict[str, Any]]
    legacy: dict[str, Any]
