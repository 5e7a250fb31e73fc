"""One request and its answer as bytes and times: what a dialect reads, wherever it was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from stages.contract.stamp import Ended, Evidence

Headers = Sequence[tuple[str, str]]
"""Names as they came, in their order; compared without regard to case."""


@dataclass(frozen=True)
class Exchange:
    """A request to a provider and what came back. Bodies are decoded of their transfer and content encoding.

    `pieces` are parts of the answer's body with the milliseconds from the request's start at which each came (None
    where a log doesn't say). Where a body was longer than the recorder keeps, `cut` names it: `request`, `response`.
    `status` is None where no answer came. Times are null where they weren't taken.
    """

    started_at: datetime
    method: str
    url: str  # of the provider, as asked, with scheme and query
    request_headers: Headers
    request_body: bytes
    status: int | None
    response_headers: Headers
    pieces: Sequence[tuple[float | None, bytes]]
    ended: Ended = "complete"
    evidence: Evidence = "recorded"
    headers_ms: float | None = None
    first_byte_ms: float | None = None
    total_ms: float | None = None
    request_bytes: int | None = None
    response_bytes: int | None = None
    cut: frozenset[str] = field(default_factory=frozenset)
