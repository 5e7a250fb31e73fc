"""What is agreed before the first trial: protocol, arms, and the rest of `params.yaml`."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import (
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    WithJsonSchema,
    field_validator,
    model_serializer,
    model_validator,
)

from stages.contract import limits
from stages.contract.arm import Arm as Arm
from stages.contract.arm import Arms as Arms
from stages.contract.arm import Word
from stages.contract.findings_of_read import FINDINGS_OF_READ, WITHHOLDING
from stages.contract.types import Id, Label, Rational, RelPath, Strict, Whole

Text = Annotated[str, Field(max_length=4000)]
QuotaState = Literal["ok", "within_budget", "throttled", "exhausted", "local"]

ITEM_RULES = ("missing_fixture", "leaked_solution", "oracle_broken", "oracle_flaky", "oracle_weak")
INSTRUMENT_RULES = (
    "missing_stamp",
    "stamp_unavailable",
    "foreign_server",
    "queue_delay",
    "retries",
    "quota_state",
    "route_change",
    "conversation_empty",
    "stamp_inconsistent",
    "lost",
)
LATER_RULES = ("conversation_empty", "stamp_inconsistent")
"""Rules that no stamp of a local program can break; protocols for local programs that are older don't name them."""
RULES = ITEM_RULES + INSTRUMENT_RULES


class Tools(Strict):
    """Permissions, the same for both arms. `provider`: the recorder of the arm's session and nothing else."""

    network: Literal["none", "provider"] = "none"
    commands: Literal["any"] = "any"
    mcp: list[Word] = []


class Envelope(Strict):
    """Limits that the session stamp of every kept trial stays inside.

    `queue_field`: whether `max_queue_ms` bounds the queue delay or the time to the first byte. `aliases` maps a model
    as asked for to the name under which it may be served.
    """

    servers: Annotated[list[Word], Field(min_length=1)] = ["local:*"]
    max_queue_ms: Annotated[Whole, Field(ge=0, le=10**9)] = 4000
    queue_field: Literal["queue", "first_byte"] = "queue"
    max_retries: Annotated[Whole, Field(ge=0, le=1000)] = 1
    quota_states: Annotated[list[QuotaState], Field(min_length=1)] = ["ok", "within_budget", "local"]
    allow_route_change: bool = False
    aliases: dict[Word, Word] = {}
    require_access_terms: bool = False
    same_served_model_across_arms: bool = False
    same_region_across_arms: bool = False
    same_quota_limits_across_arms: bool = False
    max_arm_overlap_gap_s: Annotated[Whole, Field(ge=0)] | None = None
    require_sent_as_declared: bool = False

    @model_serializer(mode="wrap")
    def _as_ever(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Keys that came later change no older digest.
        value = handler(self)
        return {k: v for k, v in value.items() if k not in _LATER_KEYS or v != type(self).model_fields[k].default}


_LATER_KEYS = {"require_sent_as_declared"}


class PassAtK(Strict):
    """The chance that one of `k` trials passes: over every choice of k of an item's trials, or its first k."""

    k: Annotated[Whole, Field(ge=1, le=limits.MAX_TRIAL_BUDGET)]
    sample: Literal["all", "first"]


Weights = Annotated[
    Annotated[Literal["equal", "proportional"], Tag("word")] | Annotated[dict[Label, Rational], Tag("weights")],
    Discriminator(lambda value: "weights" if isinstance(value, dict) else "word"),
]


class Protocol(Strict):
    """Everything that is fixed before the first trial. Its digest, with the pack's, is the slice id.

    `one_arm_items` and `withhold_on` are for logs of other harnesses: whether items of one arm only are listed or count
    as missing in the other, and which findings of the read withhold.
    """

    campaign: Annotated[Id, Field(max_length=40)] = "1"
    claim: Literal["superiority", "noninferiority"] = "superiority"
    margin: Rational | None = None
    trial_budget: Annotated[Whole, Field(ge=1, le=limits.MAX_TRIAL_BUDGET)] = 3
    time_budget_s: Annotated[Whole, Field(ge=1, le=limits.MAX_TIME_BUDGET_S)] = 120
    retry_ceiling: Annotated[Whole, Field(ge=0, le=limits.MAX_RETRY_CEILING)] = 1
    tools: Tools = Tools()
    strata_weights: Annotated[Weights, WithJsonSchema({"type": ["string", "object"]})] = "equal"
    case_series: list[Label] = []
    merges: dict[Label, Label] = {}
    alpha: Rational = Fraction(1, 20)
    family: Annotated[Whole, Field(ge=1, le=limits.MAX_FAMILY)] = 1
    min_detectable_effect: Rational = Fraction(1, 20)
    min_kept_items: Annotated[Whole, Field(ge=1)] = 20
    min_stratum_items: Annotated[Whole, Field(ge=1)] = 5
    max_excluded_share: Rational = Fraction(1, 20)
    max_surviving_mutants: Rational | None = None
    replace_excluded: Annotated[Whole, Field(ge=0, le=limits.MAX_REPLACEMENTS)] = 0
    pass_at_k: PassAtK | None = None
    require_registration: Literal["none", "self_dated", "witnessed"] = "none"
    exclusion_rules: list[Literal[RULES]] = list(RULES)  # type: ignore[valid-type]
    envelope: Envelope = Envelope()
    one_arm_items: Literal["listed", "missing"] = "listed"
    withhold_on: list[Literal[tuple(FINDINGS_OF_READ)]] = list(WITHHOLDING)  # type: ignore[valid-type]

    @model_serializer(mode="wrap")
    def _as_ever(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Keys of imported logs change no digest of a study that ran.
        value = handler(self)
        return {k: v for k, v in value.items() if k not in _IMPORT_KEYS or v != _default_of(k)}

    @field_validator("alpha")
    @classmethod
    def _alpha(cls, value: Fraction) -> Fraction:
        if not 0 < value < 1:
            raise ValueError("a number between 0 and 1")
        return value

    @field_validator("max_excluded_share", "min_detectable_effect", "max_surviving_mutants")
    @classmethod
    def _share(cls, value: Fraction | None) -> Fraction | None:
        if value is not None and not 0 <= value <= 1:
            raise ValueError("a number from 0 to 1")
        return value

    @field_validator("exclusion_rules", "case_series", "withhold_on")
    @classmethod
    def _no_doubles(cls, value: list[str]) -> list[str]:
        if len(set(value)) != len(value):
            raise ValueError("each name once")
        return value

    @model_validator(mode="after")
    def _fits(self) -> Protocol:
        if (self.claim == "noninferiority") != (self.margin is not None):
            raise ValueError("claim 'noninferiority' has a margin, 'superiority' has none")
        if self.margin is not None and not 0 < self.margin < 1:
            raise ValueError("margin: a number between 0 and 1")
        if self.pass_at_k is not None and self.pass_at_k.k > self.trial_budget:
            raise ValueError(f"pass_at_k: k at most the trial_budget, {self.trial_budget}")
        if self.max_surviving_mutants is not None and "oracle_weak" not in self.exclusion_rules:
            raise ValueError("max_surviving_mutants: only with its rule, oracle_weak, among exclusion_rules")
        if isinstance(self.strata_weights, dict):
            if any(w < 0 for w in self.strata_weights.values()):
                raise ValueError("strata_weights: no negative weight")
            if sum(self.strata_weights.values(), Fraction(0)) != 1:
                raise ValueError("strata_weights: weights that sum to exactly 1 (1/3 may be written as a ratio)")
        for name, into in self.merges.items():
            if name == into or into in self.merges:
                raise ValueError(f"merges: {name} into {into}, which is itself merged")
        return self

    def mutant_limit(self) -> Fraction | None:
        """The share of mutants that an item's oracle may pass before preflight refuses it; None: any."""
        return self.max_surviving_mutants


_IMPORT_KEYS = {"one_arm_items", "withhold_on"}


def _default_of(key: str) -> Any:
    return Protocol.model_fields[key].default


class Disclosure(Strict):
    """Who ran and paid for the study, in the authors' words; printed, never interpreted."""

    operator: Text | None = None
    funder: Text | None = None
    relation_to_arms: Text | None = None
    notes: Text | None = None


class Study(Strict):
    mode: Literal["benchmark", "exploratory", "tutorial"] = "benchmark"
    disclosure: Disclosure = Disclosure()


class PackParams(Strict):
    path: RelPath = "data/pack"
    mutation_seed: Annotated[Whole, Field(ge=0, lt=2**53)] | None = None
    selection: Text | None = None


class OracleParams(Strict):
    boundary: Literal["auto", "inprocess", "process"] = "auto"
    recheck: Rational = Fraction(1, 10)

    @field_validator("recheck")
    @classmethod
    def _share(cls, value: Fraction) -> Fraction:
        if not 0 <= value <= 1:
            raise ValueError("a share from 0 to 1")
        return value


class RunParams(Strict):
    workers: Literal["auto"] | Annotated[Whole, Field(ge=1, le=512)] = "auto"
    isolation: Literal["auto", "namespaces", "none"] = "auto"
    allow_no_isolation: bool = False
    executor: Literal["local"] = "local"
    scheduler: None = None
    max_cost: Rational | None = None

    @field_validator("max_cost")
    @classmethod
    def _positive(cls, value: Fraction | None) -> Fraction | None:
        if value is not None and value <= 0:
            raise ValueError("a positive number of dollars, or null")
        return value


class Params(Strict):
    """`params.yaml`, the only place for knobs."""

    study: Study = Study()
    pack: PackParams = PackParams()
    protocol: Protocol = Protocol()
    arms: Arms
    oracle: OracleParams = OracleParams()
    run: RunParams = RunParams()

    @model_validator(mode="after")
    def _network(self) -> Params:
        sessions = [name for name in ("candidate", "control") if getattr(self.arms, name).session is not None]
        if sessions and self.protocol.tools.network == "none":
            raise ValueError(f"protocol.tools.network: provider, since arms.{sessions[0]} has a session")
        if not sessions and self.protocol.tools.network == "provider":
            raise ValueError("protocol.tools.network: none, since no arm has a session")
        return self
