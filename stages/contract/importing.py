"""What people say of logs that are to be read: the `import` block of `params.yaml`, and the protocol over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from stages.contract import limits
from stages.contract.errors import InputError
from stages.contract.protocol import Protocol, Study
from stages.contract.types import Label, Name, Rational, Strict, validate

Paths = Annotated[list[Name], Field(max_length=10_000)]


class ImportParams(Strict):
    """Which logs are read, and how. `logs` hold both arms, or `candidate` and `control` one each.

    `strata`: a field of the log, or a CSV file with columns item_id and stratum. `map`: our column to theirs.
    `threshold`: the least score that passes. `infra_errors`: what the harness's own faults carry in their text.
    `repeats`: whether several paths of an arm are one log, or a repeat each. `allow`: a YAML file with the allowlist of
    assumptions.
    """

    logs: Paths = []
    candidate: Paths = []
    control: Paths = []
    format: Name = "auto"
    strata: Name | None = None
    map: dict[Name, Name] = {}
    threshold: Rational | None = None
    infra_errors: list[Name] = []
    filter: Name | None = None
    repeats: Literal["log", "paths"] = "log"
    candidate_name: Label | None = None
    control_name: Label | None = None
    allow: Name | None = None

    @model_validator(mode="after")
    def _either(self) -> ImportParams:
        if bool(self.logs) == bool(self.candidate or self.control):
            raise ValueError("logs of both arms, or candidate and control")
        if not self.logs and not (self.candidate and self.control):
            raise ValueError("candidate and control, each with its logs")
        return self


class LogParams(Strict):
    """`params.yaml` of a study that is read from logs. `protocol` may leave keys out, as in any other."""

    study: Study = Study()
    import_: Annotated[ImportParams, Field(alias="import")]
    protocol: dict[str, Any] = {}


def import_protocol(given: Mapping[str, Any], repeats: int, where: object) -> Protocol:
    """The protocol that logs are held against: as given, and what it leaves out as for any import.

    Every exclusion withholds (`max_excluded_share` is 0, whatever is asked for), any server is allowed unless some are
    named, and as many repeats are planned as the logs have.
    """
    made = {"trial_budget": repeats, **given, "max_excluded_share": 0}
    envelope = made.get("envelope")
    if envelope is None or (isinstance(envelope, Mapping) and "servers" not in envelope):
        made["envelope"] = {**(envelope or {}), "servers": ["*"]}
    if made["trial_budget"] == repeats and repeats > limits.MAX_TRIAL_BUDGET:
        raise InputError("the logs", f"{repeats} repeats of an item", f"at most {limits.MAX_TRIAL_BUDGET}")
    return validate(Protocol, made, where)
