"""The same pairs seen otherwise: the decision had exclusions, timeouts or order been counted differently."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import pandas as pd

from stages.gate.evidence import FOLLOWING
from stages.gate.hierarchical import hierarchical_interval, hierarchical_why
from stages.gate.reasons import PUBLISHED, ordered
from stages.gate.rule import Judged, Terms, fewest, items_of, judge
from stages.gate.stamped import Key
from stages.stats import sig6

REQUIRED = {
    "as_observed": "observed_disagrees",
    "excluded_fail": "excluded_as_fail_disagrees",
    "beside_fail": "beside_as_fail_disagrees",
}
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


def among(pairs: pd.DataFrame, arm: str, trials: Collection[Key]) -> pd.Series:
    """Which rows' trial of an arm is one of these."""
    keys = zip(pairs["item_id"], pairs["repeat"], strict=True)
    return pd.Series([(item, arm, repeat) in trials for item, repeat in keys], index=pairs.index, dtype=bool)


def _filled(
    pairs: pd.DataFrame,
    candidate: tuple[int | None, int],
    control: tuple[int | None, int],
    replaced: Collection[Key] = (),
) -> pd.DataFrame:
    """Excluded trials counted as (where there is an outcome, where there is none); None keeps the outcome.

    Those in `replaced` were excluded, too, whatever became of the trials in their place.
    """
    made = _counted(pairs).copy()
    for arm, (known, unknown) in (("candidate", candidate), ("control", control)):
        column, own = made[arm], made[f"{arm}_rule"].notna() & ~made[f"{arm}_rule"].isin(FOLLOWING)
        if known is not None:
            column = column.mask(own | among(made, arm, replaced), known)
        made[arm] = column.fillna(unknown).astype("int64")
    return made


def required_views(
    pairs: pd.DataFrame, terms: Terms, base: Judged, replaced: Collection[Key] = ()
) -> dict[str, Judged]:
    """The whole rule rerun with excluded trials as observed, and as fails; partners keep their outcome in both.

    Excluded trials without an outcome count against the published direction. Without exclusions both are the base.
    As a fail counts the trial that was replaced, too: else an agent that breaks a limit where it loses has two tries.
    A third view counts as fails what passed only beside the tests: a tree can ask to be judged there.
    """
    beside = base
    if any(pairs[f"{arm}_beside"].any() for arm in ("candidate", "control")):
        view = kept_pairs(pairs)
        for arm in ("candidate", "control"):
            view[arm] = view[arm].mask(view[f"{arm}_beside"], 0)
        beside = judge(items_of(view, fewest(pairs)), terms)
    if pairs["kept"].all() and not replaced:
        return {**dict.fromkeys(REQUIRED, base), "beside_fail": beside}
    against = 0 if base.direction > 0 else 1  # what a candidate's trial without an outcome is counted as
    least = fewest(pairs)
    made = {
        "as_observed": _filled(pairs, (None, against), (None, 1 - against)),
        "excluded_fail": _filled(pairs, (0, 0), (0, 0), replaced),
    }
    return {**{name: judge(items_of(view, least), terms) for name, view in made.items()}, "beside_fail": beside}


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
    # Where nothing was excluded and nothing passed late, every view is the pairs as they are.
    plain = required["as_observed"] if pairs["kept"].all() else None
    late_too = not (kept["candidate_late"].any() or kept["control_late"].any())
    for name, view in views.items():
        same = plain is not None and (name != "timeouts_pass" or late_too)
        block[name] = _row(plain if same and plain is not None else judge(items_of(view, least), terms))
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
