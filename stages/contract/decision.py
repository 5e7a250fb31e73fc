"""The decision as a model: what `reports/decision.json` holds, for readers and for its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from stages.contract.task import Sha256


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Replayed(_Part):
    """The file of predictions that an arm's trials applied; no agent of it ran."""

    patches: str
    sha256: Sha256


class Runner(_Part):
    name: str
    version: str
    replayed: Replayed | None = None


class Counts(_Part):
    """Trials of real items, and placebo trials apart: planned = scored + excluded + missing."""

    planned: int
    scored: int
    excluded: int
    missing: int
    replaced: int
    pairs_kept: int
    items_seen: int
    items_kept: int
    placebos_run: int
    placebos_passed: int
    placebos_refused: int


class Summary(_Part):
    """The blocked paired difference over `items`. Null is unknown; a `p_sign_flip` of 1e-12 stands for that or less."""

    items: int
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


class Tally(_Part):
    """Candidate against control."""

    wins: int
    losses: int
    ties: int


class WinRate(Tally):
    """Per item, with the share of items won; `pair_wins` per repeat pair."""

    rate: float | None
    pair_wins: Tally


class Case(_Part):
    """One item of a case series: the candidate's passes minus the control's, over `pairs` pairs."""

    item_id: str
    gains: int
    pairs: int


class StratumResult(Tally):
    """One original label of the pack, merged or not. A case series has no rate."""

    items_planned: int
    items: int
    pair_wins: Tally
    delta: float | None
    lo: float | None
    hi: float | None
    kind: Literal["exact", "bracket", "none"] = "none"
    bracket_width: float | None = None
    interval_why: str | None = None
    case_series: bool
    merged_into: str | None
    series: list[Case] | None = None


class View(_Part):
    """The whole rule, run again on pairs that are counted otherwise."""

    decision: Literal["publish", "withhold"]
    reason: str
    delta: float | None
    lo: float | None
    hi: float | None


class ByOrder(_Part):
    candidate_first: View
    control_first: View


class Sensitivity(_Part):
    as_observed: View
    excluded_fail: View
    beside_fail: View
    worst_candidate: View
    worst_control: View
    timeouts_pass: View
    by_order: ByOrder | None
    by_order_why: str | None = None
    hierarchical: View | None
    hierarchical_why: str | None = None
    guards: dict[str, Literal["holds", "fails", "alone"]]


class Count(_Part):
    """A count over `of` trials (or items)."""

    count: int
    of: int
    rate: float | None


class _Measured(_Part):
    items: int
    candidate: Count
    control: Count
    delta: float | None
    lo: float | None
    hi: float | None
    kind: Literal["exact", "bracket", "none"]
    bracket_width: float | None
    interval_why: str | None = None


class MeasureOfStratum(_Measured):
    case_series: bool


class Measure(_Measured):
    """A secondary measure: counts per arm, and the paired difference of the mean count per trial. It can't crown."""

    strata: dict[str, MeasureOfStratum]


class Density(_Part):
    """Raw counts first; `assumption_per_kloc` is sum over sum, null for few items."""

    invented_imports: int
    invented_env: int
    unauthorised_files: int
    violations: int
    extended: int
    generated_lines: int
    assumption_per_kloc: float | None


class Densities(_Part):
    items: int
    candidate: Density
    control: Density


class Asymmetry(_Part):
    """Do exclusions lean on one arm? `could_fire`: could so few have shown it?"""

    p: float
    could_fire: bool
    candidate: int
    control: int


class Share(_Part):
    """Excluded pairs of admitted items, and the protocol's limit as a rational."""

    pairs: int
    of: int
    limit: str


class SessionOfArm(_Part):
    """One arm in one part of the campaign. `excluded`: its trials by the rule of the stamp that excluded them."""

    trials: int
    queue_ms_median: float | None
    queue_ms_max: float | None
    excluded: dict[str, int]


class ControlSession(SessionOfArm):
    """The control's scored trials, and how many of them passed: had it drifted, the session would have."""

    scored: int
    passes: int | None


class SessionPart(_Part):
    """A third of the campaign's trials, by their start."""

    started_first: str
    started_last: str
    candidate: SessionOfArm
    control: ControlSession


class SessionPoint(_Part):
    """One arm in one of at most 24 equal spans of the campaign: what a figure of the queue delay draws."""

    arm: Literal["candidate", "control"]
    from_s: float
    trials: int
    queue_ms_median: float | None
    queue_ms_max: float | None
    excluded: int


class Session(_Part):
    """Whether the session drifted while the campaign ran; there where an arm has a provider."""

    parts: list[SessionPart]
    over_time: list[SessionPoint]


class AaRun(_Part):
    """The last A/A of this control on this slice, of how many, and how many of them crowned a copy."""

    at: str
    decision: Literal["publish", "withhold"]
    reason: str
    would_publish: bool
    delta: float | None
    lo: float | None
    hi: float | None
    alpha_spent: float | None
    items_kept: int
    runs: int
    crowned: int


class Rehearsals(_Part):
    """What ran before: control against itself, and ids of items that a pilot has shown already."""

    aa: AaRun | None
    aa_why: str | None = None
    piloted: list[str]


class ImportedLogs(_Part):
    """Where a study that was read from logs comes from; `planned_by`: what says which trials there should be;
    `said`: what people told the reader beside the logs (threshold, map, infra_errors, filter, strata, repeats)."""

    formats: list[str]
    sources: list[dict[str, Any]]
    planned_by: Literal["log", "plan", "protocol"]
    rows: dict[str, int]
    said: dict[str, Any] = {}


class Witnessed(_Part):
    """When an authority saw the entry, and under which root certificate its word verifies."""

    at: str
    root_sha256: Sha256


class RegistryEntry(_Part):
    """The study's line in the registry, as git's HEAD had it before the first trial. Dates are the committer's own."""

    sha256: Sha256
    line: int
    entries: int
    head: Sha256
    commit: str | None
    committed_at: str | None
    witness: Witnessed | None


class Named(_Part):
    """How many items, and the first 50 of them."""

    count: int
    items: list[str]


class Lineage(_Part):
    """Earlier uses of the pack's items, by other plans: with the same bytes, with other bytes, or items that left."""

    registry: RegistryEntry | None
    earlier_plans: int
    fresh: int
    reused: Named
    changed: Named
    left: Named
    most_uses: int
    mutation_seed: int | None


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
    lineage: Lineage | None
    lineage_why: str | None = None
    ran_at: dict[str, Any]
    mode: Literal["benchmark", "exploratory", "tutorial"]
    disclosure: dict[str, str | None]
    departures: list[str]
    candidate: Runner
    control: Runner
    counts: Counts
    placebo_bound: float | None
    dropped: list[str]
    summary: Summary | None
    strata: dict[str, StratumResult] | None
    arms: dict[str, dict[str, Any]] | None
    win_rate: WinRate | None
    secondary: dict[str, Measure] | None
    densities: dict[str, Densities] | None
    sensitivity: Sensitivity | None
    exclusions: dict[str, dict[str, int]]
    rehearsals: Rehearsals
    asymmetry: Asymmetry | None
    excluded_share: Share | None
    session: Session | None = None
    started_at: str | None
    protocol: dict[str, Any]
    findings_of_read: list[dict[str, Any]]
    legacy: dict[str, Any]
    imported: ImportedLogs | None = None
