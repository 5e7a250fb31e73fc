"""What a decision is derived from, and how many trials of it were planned, scored, excluded and are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from stages.contract.arm import Arm
from stages.contract.plan import Manifest, Plan
from stages.contract.rehearsals import Record
from stages.gate.stamped import Stamps, own_stamps

ARMS = ("candidate", "control")
PARTNER = "pair_partner"
FOLLOWING = (PARTNER, "too_few_pairs")
"""Rules by which a trial goes because others went: nothing was wrong with it itself."""

_FLAGS = {
    *("placebo", "late_pass", "kept", "accepted"),
    *("candidate_late", "control_late", "candidate_beside", "control_beside"),
}
_WHOLE_OR_NONE = {"candidate", "control", "interface_drift"}


@dataclass(frozen=True)
class Evidence:
    """All that a decision is derived from, as the stages before it wrote it.

    `replaced`: rows of trials in whose place others ran. `interrupted`: arm to attempts that died with the harness.
    """

    plan: Plan
    manifest: Manifest
    ledger: pd.DataFrame
    pairs: pd.DataFrame
    exclusions: pd.DataFrame
    admitted: dict[str, Any]
    campaign: dict[str, Any]
    rehearsals: Sequence[Record] = ()
    replaced: Sequence[dict[str, Any]] = ()
    interrupted: Mapping[str, int] = field(default_factory=dict)

    @property
    def replayed(self) -> dict[str, Arm]:
        """The arms whose trials started no agent, but applied patches that were there before."""
        return {name: arm for name in ARMS if (arm := getattr(self.plan.arms, name)).replayed}

    @cached_property
    def stamps(self) -> Stamps:
        """Each trial's stamps, as the ledger holds them."""
        names = ("item_id", "arm", "repeat", "stamps")
        rows = zip(*(self.ledger[name] for name in names), strict=True)
        return {(item, arm, repeat): own_stamps((item, arm, repeat), text) for item, arm, repeat, text in rows}


def tidy(ev: Evidence) -> Evidence:
    """The same evidence in one order of rows and one set of types, whatever pandas made of the tables.

    Text that is missing becomes None (not NaN or NA, whose comparisons differ), flags bool, outcomes nullable integers.
    """
    return replace(
        ev,
        ledger=tidy_rows(ev.ledger, ["item_id", "arm", "repeat"]),
        pairs=tidy_rows(ev.pairs, ["item_id", "repeat"]),
        exclusions=tidy_rows(ev.exclusions, ["number"]),
    )


def tidy_rows(frame: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """One table in the order of its key, with the types that the rules read."""
    made = frame.copy()
    for name in made.columns:
        column = made[name]
        if name in _FLAGS:
            made[name] = column.astype(bool)
        elif name in _WHOLE_OR_NONE:
            made[name] = column.astype("Int64")
        elif not pd.api.types.is_numeric_dtype(column):
            made[name] = column.astype(object).where(column.notna(), None)
    return made.sort_values(key, ignore_index=True)


def early_placebos(ev: Evidence) -> list[str]:
    """Placebos that preflight saw pass on the untouched workspace: no arm was started."""
    entries = ev.admitted["items"]
    return sorted(i.item_id for i in ev.plan.items if i.placebo and entries[i.item_id].get("placebo_passed"))


def placebo_trials(ev: Evidence) -> pd.DataFrame:
    """Rows of the ledger of placebos that the oracle judged. One that was lost shows nothing of the oracle."""
    return ev.ledger[ev.ledger["placebo"] & ev.ledger["verdict"].notna()]


def counts(ev: Evidence) -> dict[str, int]:
    """Trials of real items: planned = scored + excluded + missing. Placebos are counted apart.

    A placebo passes when its oracle says so, in time or not; preflight's own sight of a pass counts as one trial.
    """
    planned = excluded = missing = 0
    for arm in ARMS:
        ruled = ev.pairs[f"{arm}_rule"].notna()
        planned += len(ev.pairs)
        excluded += int(ruled.sum())
        missing += int((~ruled & (ev.pairs[f"{arm}_status"] == "missing")).sum())
    placebos, early = placebo_trials(ev), len(early_placebos(ev))
    kept = ev.pairs[ev.pairs["kept"]]
    return {
        "planned": planned,
        "scored": planned - excluded - missing,
        "excluded": excluded,
        "missing": missing,
        "replaced": int(((ev.exclusions["scope"] == "replaced") & ev.exclusions["accepted"]).sum()),
        "pairs_kept": len(kept),
        "items_seen": int(ev.pairs["item_id"].nunique()),
        "items_kept": int(kept["item_id"].nunique()),
        "placebos_run": len(placebos) + early,
        "placebos_passed": int((placebos["verdict"] == "pass").sum()) + early,
        "placebos_refused": sum(i.placebo and not ev.admitted["items"][i.item_id]["admitted"] for i in ev.plan.items),
    }
