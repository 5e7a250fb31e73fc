"""The session stamp: what the serving side was during one attempt of a trial, and its calls, one per request.

Every observed field is a value, or null with its reason in `why` under the field's dotted name (or its group's); a
missing key is a failure. The six fields of the session-stamp article are the trial itself, server identity, queue
delay, retries, quota state and route change. Times are milliseconds.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BeforeValidator, Field, model_validator

from stages.contract.protocol import QuotaState
from stages.contract.types import Id, Strict, Whole

OBSERVED = ("server_id", "queue_ms", "retries", "quota_state", "route_changed")

Text = Annotated[str, Field(min_length=1, max_length=500)]
Millis = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Number = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Count = Annotated[Whole, Field(ge=0, le=10**12)]
Names = Annotated[dict[Text, Number], Field(max_length=50)]
Evidence = Literal["recorded", "exported", "asserted"]
QueueBound = Literal["process_start", "headers", "first_byte", "exported"]
Ended = Literal[
    "complete",  # the whole answer went to the client
    "client_gone",  # the client went away first
    "upstream_reset",  # the provider's connection ended within the answer, or before it
    "upstream_timeout",
    "upstream_unreachable",  # no connection: name, route, TLS, refused
    "refused",  # by the recorder: too large, malformed, no such route
]


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_MOMENT = re.compile(r"(19[7-9]\d|[2-8]\d{3})-\d\d-\d\d[T ]\d\d:\d\d.*")


def _written(value: Any) -> Any:
    # pydantic would take a number, or its text, for seconds since 1970; and beyond, UTC may lie outside of a datetime
    if isinstance(value, str) and not _MOMENT.fullmatch(value):
        raise ValueError("a time with its zone, such as 2026-01-31T12:00:00Z")
    if not isinstance(value, str | datetime):
        raise ValueError("a time as text, with its zone")
    return value


Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_written)]
Values = Annotated[list[Text], BeforeValidator(_listed), Field(min_length=1, max_length=100)]
"""The distinct values seen, in their order; most often one, and one may be written without its list."""


class Requested(Strict):
    """What the requests asked for, as sent. `hidden` where a request says nothing of temperature or seed."""

    model: Values | None
    host: Values | None
    temperature: Values | None
    seed: Values | None


class Served(Strict):
    """What the answers say of who served them."""

    model: Values | None
    provider: Values | None
    region: Values | None
    deployment: Values | None
    system_fingerprint: Values | None
    service_tier: Values | None
    response_id_prefix: Values | None


class Timing(Strict):
    """From the request's start. Of several calls: the longest, but for `total_ms` and `server_claimed_ms` the sum."""

    headers_ms: Millis | None
    first_byte_ms: Millis | None
    first_token_ms: Millis | None
    total_ms: Millis | None
    server_claimed_ms: Millis | None


class Retry(Strict):
    """How often a request was made again, by two ways to count it."""

    sdk_count: Count | None
    repeated_body_count: Count | None
    waited_ms: Millis | None
    retry_after_s: Number | None


class Quota(Strict):
    """Quota as the provider's headers told it: kind (`requests`, `input_tokens`, …) to number; `token` is a hash."""

    limits: Names | None
    remaining: Names | None
    resets_s: Names | None
    token: Text | None


class Status(Strict):
    """How the calls ended: how many, how many failed, the last one's HTTP status and failure."""

    calls: Count
    failed: Count
    last: Annotated[Whole, Field(ge=100, le=599)] | None
    last_failure: Text | None


class Usage(Strict):
    """Tokens and cost, where the provider says them."""

    input_tokens: Count | None
    output_tokens: Count | None
    cached_tokens: Count | None
    reasoning_tokens: Count | None
    cost_usd: Number | None


class AccessTerms(Strict):
    """The provider's terms as they were read: where, when, and a digest of the text."""

    text_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    source: Text
    read_at: Moment


class Reasoned(Strict):
    """A model whose null fields are explained in `why`, by their dotted name or their group's."""

    why: Annotated[dict[Text, Text], Field(max_length=100)] = {}

    @model_validator(mode="after")
    def _value_or_reason(self) -> Reasoned:
        null = _nulls(self)
        for name in null:
            if name not in self.why and name.partition(".")[0] not in self.why:
                raise ValueError(f"{name}: a value, or null with why.{name}")
        known = {*null, *(name.partition(".")[0] for name in null)}
        for name in self.why:
            if name not in known:
                raise ValueError(f"why.{name}: a reason for a field that is null")
        return self


_NOTHING_WRONG = {"failure", "error_code", "status.last_failure"}  # null here says that nothing failed


def _nulls(model: Reasoned) -> list[str]:
    """Dotted names of the null fields, in order; a null group is one name."""
    found: list[str] = []
    for name, value in vars(model).items():
        if value is None:
            found.append(name)
        elif isinstance(value, Strict):
            found += [f"{name}.{inner}" for inner, part in vars(value).items() if part is None]
    return [name for name in found if name not in _NOTHING_WRONG]


class Call(Reasoned):
    """One request to a provider and what came of it. `failure` is null for an answer, else a short code."""

    number: Annotated[Whole, Field(ge=1)]
    evidence: Evidence
    started_at: Moment
    dialect: Text
    method: Text
    host: Text
    path: Annotated[str, Field(max_length=1000)]
    status: Annotated[Whole, Field(ge=100, le=599)] | None
    ended: Ended
    failure: Text | None
    error_code: Text | None
    requested: Requested
    served: Served
    server_id: Text | None
    timing: Timing
    queue_ms: Millis | None
    queue_bound: QueueBound | None
    retry: Retry
    quota_state: QuotaState | None
    quota: Quota
    usage: Usage
    conversation_empty: bool | None
    body_hmac: Text | None
    request_bytes: Count | None
    response_bytes: Count | None
    inconsistent: Annotated[list[Text], Field(max_length=20)]


class Stamp(Reasoned):
    """One stamp per attempt of a trial; a group that doesn't apply is null, with its reason."""

    item_id: Id
    arm: Literal["candidate", "control"]
    repeat: Annotated[Whole, Field(ge=0)]
    attempt: Annotated[Whole, Field(ge=1)]
    evidence: Evidence
    started_at: Moment
    requested: Requested | None
    served: Served | None
    server_id: Text | None
    timing: Timing | None
    queue_ms: Millis | None
    queue_bound: QueueBound | None
    retries: Annotated[Whole, Field(ge=0, le=10**6)] | None
    retry: Retry | None
    quota_state: QuotaState | None
    quota: Quota | None
    route_changed: bool | None
    route_what: Annotated[list[Text], Field(max_length=50)]
    status: Status | None
    usage: Usage | None
    conversation_empty: bool | None
    access_terms: AccessTerms | None
    inconsistent: Annotated[list[Text], Field(max_length=20)]

    @model_validator(mode="after")
    def _of_a_piece(self) -> Stamp:
        if bool(self.route_what) != bool(self.route_changed):
            raise ValueError("route_what: what changed where route_changed is true, else empty")
        many = [
            name
            for name in ("model", "provider", "region", "deployment", "system_fingerprint")
            if self.served is not None and len(getattr(self.served, name) or []) > 1
        ]
        if many and self.route_changed is False:
            raise ValueError(f"route_changed: true, since served.{many[0]} has several values")
        return self
