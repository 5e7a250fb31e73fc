"""The same pairs seen otherwise: the decision had exclusions, timeouts or order been counted differently."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd

from stages.gate.evidence import FOLLOWING
from stages.gate.hierarchical import hierarchical_interval, hierarchical_why
from stages.gate.reasons import PUBLISHED, ordered
from stages.gate.rule import Judged, Terms, fewest, items_of, judge
from stages.stats import sig6

REQUIRED = {"as_observed": "observed_disagrees", "excluded_fail": "excluded_as_fail_disagrees"}
"""Views that have to publish what the decision publishes, and the reason where one doesn't."""
GUARDS = (
    "sign_flip_not_significant",
    "strata_disagree",
    "weights_decide",
    *REQUIRED.values(),
    "exclusion_asymmetry",
    "too_many_exclusions",
)
"""Reasons beyond size, effect and interval: what they cost is shown beside the decision."""


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


def required_views(pairs: pd.DataFrame, terms: Terms, base: Judged) -> dict[str, Judged]:
    """The whole rule rerun with excluded trials as observed, and as fails; partners keep their outcome in both.

    Excluded trials without an outcome count against the published direction. Without exclusions both are the base.
    """
    if pairs["kept"].all():
        return dict.fromkeys(REQUIRED, base)
    against = 0 if base.direction > 0 else 1  # what a candidate's trial without an outcome is counted as
    least = fewest(pairs)
    made = {
        "as_observed": _filled(pairs, (None, against), (None, 1 - against)),
        "excluded_fail": _filled(pairs, (0, 0), (0, 0)),
    }
    return {name: judge(items_of(view, least), terms) for name, view in made.items()}


def disagreements(base: Judged, required: dict[str, Judged]) -> set[str]:
    """Reasons of required views that don't publish, or another direction than the base, which would be published."""
    if base.reasons:
        return set()
    return {REQUIRED[n] for n, seen in required.items() if seen.reasons or seen.direction != base.direction}


def sensitivity(pairs: pd.DataFrame, terms: Terms, required: dict[str, Judged], reasons: set[str]) -> dict[str, Any]:
    """The sensitivity block: every row reruns the whole rule. `reasons` are all that the numbers gave."""
    least = fewest(pairs)
    kept = kept_pairs(pairs)
    late = kept.copy()
    for arm in ("candidate", "control"):
        late[arm] = late[arm].mask(late[f"{arm}_late"], 1)
    views = {
        "worst_candidate": _filled(pairs, (0, 0), (1, 1)),
        "worst_control": _filled(pairs, (1, 1), (0, 0)),
        "timeouts_pass": late,
    }
    block: dict[str, Any] = {name: _row(seen) for name, seen in required.items()}
    block |= {name: _row(judge(items_of(view, least), terms)) for name, view in views.items()}
    block["by_order"] = None
    if (kept["first"] == "none").any():
        block["by_order_why"] = "it isn't known of every pair which arm ran first"
    else:
        block["by_order"] = {
            f"{arm}_first": _row(judge(items_of(kept[kept["first"] == arm], 1), terms))
            for arm in ("candidate", "control")
        }
    items = items_of(kept, least)
    why = hierarchical_why(items, terms.protocol)
    block["hierarchical"] = None
    if why:
        block["hierarchical_why"] = why
    else:
        again = partial(hierarchical_interval, items, terms.protocol)
        block["hierarchical"] = _row(judge(items, terms, again))
    block["guards"] = {g: "holds" if g not in reasons else "alone" if reasons == {g} else "fails" for g in GUARDS}
    return block


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
