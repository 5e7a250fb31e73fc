"""The session stamp: what the serving side was during one attempt of a trial.

Every observed field is a value or a reason why it is unavailable; a missing key is a failure. The six fields of
the session-stamp article are task, server identity, queue delay, retries, quota state and route change.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, model_validator

from stages.contract.protocol import QuotaState
from stages.contract.types import Id, Strict, Whole

OBSERVED = ("server_id", "queue_ms", "retries", "quota_state", "route_changed")


class Stamp(Strict):
    """One stamp per attempt. `X` null needs `X_why`."""

    item_id: Id
    arm: Literal["candidate", "control"]
    repeat: Annotated[Whole, Field(ge=0)]
    attempt: Annotated[Whole, Field(ge=1)]
    evidence: Literal["recorded", "exported", "asserted"]
    started_at: Annotated[AwareDatetime, Field(strict=False)]
    server_id: Annotated[str, Field(min_length=1, max_length=500)] | None
    server_id_why: str | None = None
    queue_ms: Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)] | None
    queue_ms_why: str | None = None
    queue_bound: Literal["process_start", "headers", "first_byte", "exported"] | None = None
    retries: Annotated[Whole, Field(ge=0, le=10**6)] | None
    retries_why: str | None = None
    quota_state: QuotaState | None
    quota_state_why: str | None = None
    route_changed: bool | None
    route_changed_why: str | None = None
    served_model: str | None = None
    conversation_empty: bool | None = None

    @model_validator(mode="after")
    def _value_or_reason(self) -> Stamp:
        for name in OBSERVED:
            if (getattr(self, name) is None) == (getattr(self, f"{name}_why") is None):
                raise ValueError(f"{name}: a value, or null with {name}_why")
        return self
