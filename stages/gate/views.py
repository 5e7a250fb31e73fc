"""The same pairs seen otherwise: the decision had exclusions, timeouts or order been counted differently."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import pandas as pd

from stages.contract.plan import Manifest, Plan
from stages.gate.evidence import FOLLOWING
from stages.gate.hierarchical import hierarchical_interval, hierarchical_why
from stages.gate.reasons import PUBLISHED, ordered
from stages.gate.rule import Judged, items_of, judge
from stages.stats import sig6


def kept_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs that count, outcomes as integers."""
    return pairs[pairs["kept"]].astype({"candidate": "int64", "control": "int64"})


def _counted(pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs that ran: those that an exclusion could have taken out. What preflight refused never ran."""
    return pairs[(pairs["candidate_status"] != "missing") & (pairs["control_status"] != "missing")]


def _filled(pairs: pd.DataFrame, candidate: tuple[int | None, int], control: tuple[int | None, int]) -> pd.DataFrame:
    """Excluded trials counted as (where there is an outcome, where there is none); None keeps the outcome."""
    made = _counted(pairs).copy()
    for arm, (known, unknown) in (("candidate", candidate), ("control", control)):
        column, own = made[arm], made[f"{arm}_rule"].notna() & ~made[f"{arm}_rule"].isin(FOLLOWING)
        if known is not None:
            column = column.mask(own, known)
        made[arm] = column.fillna(unknown).astype("int64")
    return made


def sensitivity(
    pairs: pd.DataFrame, plan: Plan, manifest: Manifest, alpha: Fraction, base: Judged
) -> tuple[dict[str, Any], set[str]]:
    """(sensitivity block, reasons of rule 8 that it gives).

    Every row reruns the whole rule. Required: as observed, and excluded counted as fail, both publish what the
    decision publishes, in the same direction. Partners of excluded trials keep their outcome in all of them.
    """
    least = math.ceil(plan.trial_budget / 2)
    against = 0 if base.direction > 0 else 1  # what a candidate's trial without an outcome is counted as
    kept = kept_pairs(pairs)
    late = kept.copy()
    for arm in ("candidate", "control"):
        late[arm] = late[arm].mask(late[f"{arm}_late"], 1)
    views = {
        "as_observed": _filled(pairs, (None, against), (None, 1 - against)),
        "excluded_fail": _filled(pairs, (0, 0), (0, 0)),
        "worst_candidate": _filled(pairs, (0, 0), (1, 1)),
        "worst_control": _filled(pairs, (1, 1), (0, 0)),
        "timeouts_pass": late,
    }
    block: dict[str, Any] = {}
    reasons: set[str] = set()
    for name, view in views.items():
        judged = judge(items_of(view, least), manifest, alpha)
        block[name] = _row(judged)
        agrees = not judged.reasons and judged.direction == base.direction
        if not base.reasons and not agrees and name in ("as_observed", "excluded_fail"):
            reasons.add({"as_observed": "observed_disagrees", "excluded_fail": "excluded_as_fail_disagrees"}[name])
    block["by_order"] = {
        f"{arm}_first": _row(judge(items_of(kept[kept["first"] == arm], 1), manifest, alpha))
        for arm in ("candidate", "control")
    }
    items = items_of(kept, least)
    why = hierarchical_why(items)
    block["hierarchical"] = None
    if why:
        block["hierarchical_why"] = why
    else:
        again = partial(hierarchical_interval, items, manifest)
        block["hierarchical"] = _row(judge(items, manifest, alpha, again))
    return block, reasons


def _row(judged: Judged) -> dict[str, Any]:
    found = ordered(judged.reasons)
    interval = judged.interval
    return {
        "decision": "withhold" if found else "publish",
        "reason": found[0] if found else PUBLISHED,
        "delta": None if judged.delta is None else sig6(judged.delta),
        "lo": None if interval is None or interval.lo is None else sig6(interval.lo),
        "hi": None if interval is None or interval.hi is None else sig6(interval.hi),
    }
