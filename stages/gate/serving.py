"""How the two arms were served, and what they sent: what the protocol may ask to be the same, as the stamps show it.

Only trials of kept pairs count: what an exclusion took out isn't compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from stages.contract.stamp import Stamp
from stages.gate.evidence import ARMS, Evidence
from stages.gate.sent import differences, sent_by
from stages.gate.stamped import evidence_of
from stages.gate.wording import some

UNKNOWN = "unknown"
_DATED = re.compile(
    r"(?:-20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])|[-@]20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))\Z"
)


def family(model: str) -> str:
    """A model's name without the date at its end: `-2026-01-31`, `-20260131` or `@20260131`, and nothing else.

    `-0131`, `-2601`, `-latest`, `-preview` or a version are parts of the name.
    """
    return _DATED.sub("", model) or model


def unlike(ev: Evidence) -> list[str]:
    """What of the two arms' serving the protocol wants to be the same and isn't, or can't be shown to be."""
    envelope = ev.manifest.protocol.envelope
    found: list[str] = []
    if envelope.same_served_model_across_arms:
        served = _seen(ev, _models)
        if len({*served["candidate"], *served["control"]}) != 1 or UNKNOWN in served["candidate"]:
            found.append(f"candidate served by {some(served['candidate'])}, control by {some(served['control'])}")
    for asked, what, read in (
        (envelope.same_region_across_arms, "region", _regions),
        (envelope.same_quota_limits_across_arms, "quota limits", _limits),
    ):
        seen = _seen(ev, read) if asked else {}
        if asked and (seen["candidate"] != seen["control"] or UNKNOWN in seen["candidate"] or not seen["candidate"]):
            found.append(f"{what}: candidate {some(seen['candidate'])}, control {some(seen['control'])}")
    if envelope.require_sent_as_declared:
        for name in ARMS:
            arm = ev.plan.arms.candidate if name == "candidate" else ev.plan.arms.control
            found += [f"{name}: {said}" for said in differences(arm, sent_by(ev, name))]
    return found


def _seen(ev: Evidence, read: Callable[[Stamp], Iterable[str]]) -> dict[str, list[str]]:
    """Arm to the distinct values that its counted trials' stamps show."""
    kept = set(zip(ev.pairs["item_id"][ev.pairs["kept"]], ev.pairs["repeat"][ev.pairs["kept"]], strict=True))
    found: dict[str, set[str]] = {arm: set() for arm in ARMS}
    for (item, arm, repeat), stamps in ev.stamps.items():
        if (item, repeat) in kept:
            found[arm].update(value for stamp in evidence_of(stamps) for value in read(stamp))
    return {arm: sorted(values) for arm, values in found.items()}


def _models(stamp: Stamp) -> list[str]:
    return [family(m) for m in (stamp.served and stamp.served.model) or [UNKNOWN]]


def _regions(stamp: Stamp) -> list[str]:
    return (stamp.served and stamp.served.region) or [UNKNOWN]


def _limits(stamp: Stamp) -> list[str]:
    limits = stamp.quota.limits if stamp.quota is not None else None
    return [", ".join(f"{kind} {value:g}" for kind, value in sorted(limits.items()))] if limits else [UNKNOWN]
