"""Whether the session drifted while the campaign ran: queue delay, the control's passes, exclusions, over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Any

from stages.contract.protocol import INSTRUMENT_RULES
from stages.contract.stamp import Stamp
from stages.gate.evidence import ARMS, Evidence
from stages.gate.stamped import evidence_of, is_local, moment, own_stamps
from stages.stats import sig6

PARTS, SPANS = 3, 24


@dataclass(frozen=True, order=True)
class _Trial:
    """One trial of a real item as drift sees it. `rule`: what of its stamp, or its loss, excluded or replaced it."""

    at: datetime
    item_id: str
    arm: str
    repeat: int
    text: str
    queue_ms: float | None
    passed: bool
    scored: bool
    rule: str | None


def session_drift(ev: Evidence, benchmark: bool) -> dict[str, Any]:
    """`session`: the campaign in thirds, and each arm's queue delay [ms] in at most 24 spans of its time [s].

    Nothing for a study without a provider. A study that is no benchmark is shown no passes.
    """
    arms = (ev.plan.arms.candidate, ev.plan.arms.control)
    good = (stamp for stamps in ev.stamps.values() for stamp in evidence_of(stamps))
    if all(arm.session is None for arm in arms) and all(map(is_local, good)):
        return {}
    trials = _trials(ev)
    cuts = [round(len(trials) * n / PARTS) for n in range(PARTS + 1)]
    parts = [trials[a:b] for a, b in pairwise(cuts) if a < b]
    return {"session": {"parts": [_part(part, benchmark) for part in parts], "over_time": _over_time(trials)}}


def _trials(ev: Evidence) -> list[_Trial]:
    """Trials of real items by their start, those in whose place others ran too."""
    rules: dict[tuple[str, str, int], str | None] = {}
    for arm in ARMS:
        named = zip(ev.pairs["item_id"], ev.pairs["repeat"], ev.pairs[f"{arm}_rule"], strict=True)
        rules |= {(item, arm, repeat): rule for item, repeat, rule in named}
    found = []
    names = ("item_id", "arm", "repeat", "started_at", "status", "placebo")
    for item, arm, repeat, at, status, placebo in zip(*(ev.ledger[name] for name in names), strict=True):
        key = (item, arm, repeat)
        if not placebo and key in rules:
            found.append(_trial(key, at, ev.stamps[key], rules[key], status == "passed"))
    for row in ev.replaced:
        key = (row["item_id"], row["arm"], row["repeat"])
        if key in rules:
            found.append(_trial(key, row["started_at"], own_stamps(key, row["stamps"]), row["rule"]))
    return sorted(found, key=lambda t: (t.at, t.item_id, t.arm, t.repeat))


def _trial(
    key: tuple[str, str, int], at: str, stamps: Sequence[Stamp | str], rule: str | None, passed: bool = False
) -> _Trial:
    return _Trial(
        moment(at, f"row of {key[0]}"),
        *key,
        text=at,
        queue_ms=max((s.queue_ms for s in evidence_of(stamps) if s.queue_ms is not None), default=None),
        passed=passed,
        scored=rule is None,
        rule=rule if rule in INSTRUMENT_RULES else None,
    )


def _delays(trials: Sequence[_Trial]) -> dict[str, Any]:
    known = [t.queue_ms for t in trials if t.queue_ms is not None]
    return {
        "trials": len(trials),
        "queue_ms_median": sig6(median(known)) if known else None,
        "queue_ms_max": sig6(max(known)) if known else None,
    }


def _part(trials: Sequence[_Trial], benchmark: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"started_first": trials[0].text, "started_last": trials[-1].text}
    for arm in ARMS:
        mine = [t for t in trials if t.arm == arm]
        made[arm] = {**_delays(mine), "excluded": dict(sorted(Counter(t.rule for t in mine if t.rule).items()))}
    scored = [t for t in trials if t.arm == "control" and t.scored]
    made["control"] |= {"scored": len(scored), "passes": sum(t.passed for t in scored) if benchmark else None}
    return made


def _over_time(trials: Sequence[_Trial]) -> list[dict[str, Any]]:
    if not trials:
        return []
    first, length = trials[0].at, (trials[-1].at - trials[0].at).total_seconds()
    spans: dict[tuple[int, str], list[_Trial]] = {}
    for trial in trials:
        place = (trial.at - first).total_seconds() / length if length else 0.0
        spans.setdefault((min(int(place * SPANS), SPANS - 1), trial.arm), []).append(trial)
    return [
        {
            "arm": arm,
            "from_s": sig6(length * span / SPANS),
            **_delays(mine),
            "excluded": sum(t.rule is not None for t in mine),
        }
        for (span, arm), mine in sorted(spans.items())
    ]
