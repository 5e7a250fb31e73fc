"""How the trials were run: isolation, equal arms, order, runners, session stamps. Each reason with its figures."""

from __future__ import annotations

from datetime import datetime

import pandas as pd

from stages.gate.evidence import ARMS, Evidence
from stages.gate.serving import unlike
from stages.gate.stamped import Key, evidence_of
from stages.gate.wording import some


def conduct_reasons(ev: Evidence) -> dict[str, str]:
    """Reason id to the figures behind it."""
    found: dict[str, str] = {}
    ledger = ev.ledger
    bare = ledger[ledger["isolation"] == "none"]
    judged = ledger[ledger["verdict_isolation"] == "none"]
    lacking = [
        f"{len(rows)} of {len(ledger)} trials {what} without isolation"
        for rows, what in ((bare, "ran"), (judged, "were judged"))
        if len(rows)
    ]
    if lacking:
        found["not_isolated"] = "; ".join(lacking)
    unequal = [*_unequal(ev), *unlike(ev)]
    if unequal:
        found["arms_unequal"] = "; ".join(unequal)
    apart = [] if ev.replayed else _apart(ev)
    if apart:
        found["not_interleaved"] = "; ".join(apart)
    changed = ledger[ledger["runner_changed"].notna()]
    if len(changed):
        first = changed.iloc[0]
        found["runner_changed"] = (
            f"{len(changed)} trials, such as {first['item_id']} ({first['arm']}, repeat {first['repeat']}): "
            f"{first['runner_changed']}"
        )
    bad = _unstamped(ev)
    if bad:
        found["no_session_evidence"] = bad
    if not len(ledger):
        found["no_assumption_ledger"] = "the ledger is empty"
    return found


def _keys(frame: pd.DataFrame) -> list[Key]:
    return list(zip(frame["item_id"], frame["arm"], frame["repeat"], strict=True))


def _unequal(ev: Evidence) -> list[str]:
    found = []
    if len(ev.replayed) == 1:
        found.append(f"{next(iter(ev.replayed))} was replayed from patches, the other arm's agent ran here")
    ran = {
        arm: sorted(set(zip(rows["isolation"], rows["limits"], strict=True))) for arm, rows in ev.ledger.groupby("arm")
    }
    if len(ran) == 2 and not found and ran["candidate"] != ran["control"]:
        shown = {arm: some([f"{tier} {limits}" for tier, limits in kinds]) for arm, kinds in ran.items()}
        found.append(f"candidate {shown['candidate']}, control {shown['control']}")
    return found


def _apart(ev: Evidence) -> list[str]:
    """Whether the arms ran after one another, as a whole or within a block."""
    found = [] if ev.plan.arms.order == "interleaved" else [f"arms.order is {ev.plan.arms.order}"]
    most = ev.manifest.protocol.envelope.max_arm_overlap_gap_s
    if most is not None:
        started = dict(zip(_keys(ev.ledger), ev.ledger["started_at"], strict=True))
        gaps = [
            abs((datetime.fromisoformat(at) - datetime.fromisoformat(started[item, "control", repeat])).total_seconds())
            for (item, arm, repeat), at in started.items()
            if arm == "candidate" and (item, "control", repeat) in started
        ]
        late = [gap for gap in gaps if gap > most]
        if late:
            found.append(f"{len(late)} pairs started more than {most} s apart, at most {max(late):.0f} s")
    return found


def _unstamped(ev: Evidence) -> str | None:
    """What is lacking of session evidence. A trial that was lost twice counts as a fail, with or without stamps."""
    if ev.replayed:
        count = int(ev.ledger["arm"].isin(list(ev.replayed)).sum())
        return f"{count} of {len(ev.ledger)} trials were replayed from patches ({', '.join(ev.replayed)}): no stamps"
    recorded = {key for key, all_ in ev.stamps.items() if all_ and len(evidence_of(all_)) == len(all_)}
    if not recorded:
        return f"0 of {len(ev.stamps)} trials have a stamp that a recorder or harness wrote"
    kept = ev.pairs[ev.pairs["kept"]]
    excused = recorded | set(_keys(ev.ledger[ev.ledger["status"] == "lost"]))
    pairs = zip(kept["item_id"], kept["repeat"], strict=True)
    counted = [(item, arm, repeat) for item, repeat in pairs for arm in ARMS]
    bare = [key for key in counted if key not in excused]
    if bare:
        which = [f"{item} ({arm}, repeat {repeat})" for item, arm, repeat in bare]
        return f"{len(bare)} counted trials have no stamp that a recorder or harness wrote: {some(which)}"
    return None
