"""How the trials were run: isolation, equal arms, order, runners, session stamps. Each reason with its figures."""

from __future__ import annotations

from datetime import datetime

import pandas as pd

from stages.contract.stamp import Stamp
from stages.gate.evidence import ARMS, Evidence
from stages.session import parse_stamps


def conduct_reasons(ev: Evidence) -> dict[str, str]:
    """Reason id to the figures behind it."""
    found: dict[str, str] = {}
    ledger = ev.ledger
    bare = ledger[ledger["isolation"] == "none"]
    if len(bare):
        found["not_isolated"] = f"{len(bare)} of {len(ledger)} trials ran without isolation"
    texts = zip(_keys(ledger), ledger["stamps"], strict=True)
    stamps = {key: parse_stamps(text, f"stamps of {key[0]}") for key, text in texts}
    unequal = _unequal(ev, stamps)
    if unequal:
        found["arms_unequal"] = "; ".join(unequal)
    apart = _apart(ev)
    if apart:
        found["not_interleaved"] = "; ".join(apart)
    changed = ledger[ledger["runner_changed"].notna()]
    if len(changed):
        first = changed.iloc[0]
        found["runner_changed"] = (
            f"{len(changed)} trials, such as {first['item_id']} ({first['arm']}, repeat {first['repeat']}): "
            f"{first['runner_changed']}"
        )
    bad = _unstamped(ev, stamps)
    if bad:
        found["no_session_evidence"] = bad
    if not len(ledger):
        found["no_assumption_ledger"] = "the ledger is empty"
    return found


Key = tuple[str, str, int]
Stamps = dict[Key, list[Stamp | str]]


def _keys(frame: pd.DataFrame) -> list[Key]:
    return list(zip(frame["item_id"], frame["arm"], frame["repeat"], strict=True))


def _unequal(ev: Evidence, stamps: Stamps) -> list[str]:
    found = []
    ran = {
        arm: sorted(set(zip(rows["isolation"], rows["limits"], strict=True))) for arm, rows in ev.ledger.groupby("arm")
    }
    if len(ran) == 2 and ran["candidate"] != ran["control"]:
        shown = {arm: some([f"{tier} {limits}" for tier, limits in kinds]) for arm, kinds in ran.items()}
        found.append(f"candidate {shown['candidate']}, control {shown['control']}")
    if ev.manifest.protocol.envelope.same_served_model_across_arms:
        served = {
            arm: sorted(
                {s.served_model or "unknown" for key, all_ in stamps.items() if key[1] == arm for s in _good(all_)}
            )
            for arm in ARMS
        }
        if len(set(served["candidate"] + served["control"])) != 1 or "unknown" in served["candidate"]:
            found.append(f"candidate served by {some(served['candidate'])}, control by {some(served['control'])}")
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


def _unstamped(ev: Evidence, stamps: Stamps) -> str | None:
    """What is lacking of session evidence. A trial that was lost twice counts as a fail, with or without stamps."""
    recorded = {key for key, all_ in stamps.items() if all_ and len(_good(all_)) == len(all_)}
    if not recorded:
        return f"0 of {len(stamps)} trials have a stamp that a recorder or harness wrote"
    kept = ev.pairs[ev.pairs["kept"]]
    excused = recorded | set(_keys(ev.ledger[ev.ledger["status"] == "lost"]))
    pairs = zip(kept["item_id"], kept["repeat"], strict=True)
    counted = [(item, arm, repeat) for item, repeat in pairs for arm in ARMS]
    bare = [key for key in counted if key not in excused]
    if bare:
        which = [f"{item} ({arm}, repeat {repeat})" for item, arm, repeat in bare]
        return f"{len(bare)} counted trials have no stamp that a recorder or harness wrote: {some(which)}"
    return None


def _good(stamps: list[Stamp | str]) -> list[Stamp]:
    return [s for s in stamps if isinstance(s, Stamp) and s.evidence != "asserted"]


def some(names: list[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return "; ".join(names[:most]) + more
