"""Whether the provider ended a trial: an agent whose last call came to nothing is told apart from one that gave up."""

from __future__ import annotations

from collections.abc import Sequence

from stages.contract.stamp import Call
from stages.session.dialects.values import NO_MODEL

_OURS = (401, 403, 404, 408, 425, 429)  # of the other 4xx the request is to blame, which the agent wrote


def provider_error(calls: Sequence[Call]) -> str | None:
    """Why the provider is what ended the agent: its last call failed on the provider's side. Else None.

    A call that the agent itself broke off or got wrong (an HTTP 400, a body too large) isn't the provider's. Where a
    model was asked, other calls (a list of models, a file) ended nothing.
    """
    if not calls:
        return None
    asked = [call for call in calls if call.why.get("requested.model") != NO_MODEL] or calls
    last = max(asked, key=lambda call: (call.started_at, call.number))
    if last.failure is None or last.ended in ("client_gone", "refused"):
        return None
    if last.ended == "complete" and last.status is not None and 400 <= last.status < 500 and last.status not in _OURS:
        return None
    failed = sum(call.failure is not None for call in asked)
    status = f"HTTP {last.status}" if last.status is not None else last.ended.replace("_", " ")
    code = "" if last.error_code is None else f" {last.error_code}"
    return f"provider error: {status}{code} ({last.failure}), the last of {len(asked)} calls, {failed} of which failed"
