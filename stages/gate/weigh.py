"""Rules 2 to 8 on a table of pairs: the one way to numbers, for studies and for notebooks alike."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pandas as pd

from stages.contract.digest import rational_text
from stages.gate.evidence import ARMS, FOLLOWING, PARTNER
from stages.gate.rule import Judged, Terms, fewest, items_of, judge
from stages.gate.stamped import Key
from stages.gate.views import among, disagreements, kept_pairs, required_views
from stages.stats import exclusion_asymmetry, sig6
from stages.stats.alpha import ASYMMETRY_LEVEL


@dataclass(frozen=True)
class Weighed:
    """`items` as `items_of` gives them, `base` the rule on the kept pairs, `required` on the views that must agree.

    `exclusions` holds the figures of rule 8; `reasons` are all that the numbers give, none means they may be published.
    """

    items: pd.DataFrame
    base: Judged
    required: dict[str, Judged]
    exclusions: dict[str, Any]
    reasons: set[str]


def weigh(pairs: pd.DataFrame, terms: Terms, refused: Collection[str] = (), replaced: Collection[Key] = ()) -> Weighed:
    """Weigh tidy rows of the pairs table. Items in `refused` never ran and don't count in the excluded share.

    In the place of trials in `replaced` others ran; to what asks whether exclusions decide, they are excluded ones.
    """
    items = items_of(kept_pairs(pairs), fewest(pairs))
    base = judge(items, terms)
    required = required_views(pairs, terms, base, replaced)
    excluded, figures = _exclusions(pairs[~pairs["item_id"].isin(refused)] if refused else pairs, terms, replaced)
    return Weighed(items, base, required, figures, base.reasons | disagreements(base, required) | excluded)


def _exclusions(pairs: pd.DataFrame, terms: Terms, replaced: Collection[Key]) -> tuple[set[str], dict[str, Any]]:
    """Rule 8's own limits: the excluded share of admitted pairs, and whether exclusions lean on one arm."""
    # A partner goes because of the other trial: either that one was excluded itself, or it is missing.
    ruled = {arm: pairs[f"{arm}_rule"].notna() & (pairs[f"{arm}_rule"] != PARTNER) for arm in ARMS}
    own = {
        arm: int(((ruled[arm] & ~pairs[f"{arm}_rule"].isin(FOLLOWING)) | among(pairs, arm, replaced)).sum())
        for arm in ARMS
    }
    gone, limit = int((ruled["candidate"] | ruled["control"]).sum()), terms.protocol.max_excluded_share
    asymmetry = exclusion_asymmetry((own["candidate"], own["control"]), (len(pairs), len(pairs)))
    reasons = set()
    if asymmetry.p <= ASYMMETRY_LEVEL:
        reasons.add("exclusion_asymmetry")
    if len(pairs) and Fraction(gone, len(pairs)) > limit:
        reasons.add("too_many_exclusions")
    return reasons, {
        "asymmetry": {"p": sig6(asymmetry.p), "could_fire": asymmetry.could_fire, **own},
        "excluded_share": {"pairs": gone, "of": len(pairs), "limit": rational_text(limit)},
    }
