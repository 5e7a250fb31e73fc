"""The publish rule for notebooks: a table of pairs and a protocol in, a verdict out. No study folder is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pandas as pd

from stages.contract import limits
from stages.contract.design import check_design
from stages.contract.errors import InputError
from stages.contract.protocol import ITEM_RULES, Protocol
from stages.contract.types import validate
from stages.gate.evidence import ARMS, FOLLOWING
from stages.gate.floors import below_floor
from stages.gate.pairs import pairs_table
from stages.gate.reasons import PUBLISHED, ordered
from stages.gate.rule import Terms
from stages.gate.views import sensitivity
from stages.gate.weigh import Weighed, weigh
from stages.stats import alpha_spent, show_p

MOST_LOOKS = 1_000_000


@dataclass(frozen=True)
class Verdict:
    """What the numbers give: rules 2 to 8, the protocol's floors, and whether a trial is missing.

    `delta`, `lo`, `hi` and `bracket_width` are exact (None where there is no interval), `strata` the difference of each
    label of the summary, `items` its kept items per stratum, `direction` 1 or -1 for what would be claimed. How the
    trials were run (placebos, isolation, stamps, order) can't be seen from pairs: a study's decision asks for that too.
    """

    decision: str
    reason: str
    reasons: tuple[str, ...]
    delta: Fraction | None
    lo: Fraction | None
    hi: Fraction | None
    bracket_width: Fraction | None
    p_sign_flip: float | None
    alpha_spent: Fraction
    direction: int
    items: dict[str, int]
    strata: dict[str, Fraction]
    pairs: pd.DataFrame = field(repr=False)
    terms: Terms = field(repr=False)
    weighed: Weighed = field(repr=False)

    def __str__(self) -> str:
        """One line, never a bare number: what is decided, the difference with its interval and level, the reasons."""
        difference = "no Δ" if self.delta is None else f"Δ {float(self.delta):+.3f}"
        if self.lo is not None and self.hi is not None:
            level = f"{100 * (1 - float(self.alpha_spent)):.6g} % interval"
            difference += f", {level} [{float(self.lo):+.3f}, {float(self.hi):+.3f}]"
        sizes = ", ".join(f"{name} {float(value):+.3f}" for name, value in sorted(self.strata.items()))
        p = "" if self.p_sign_flip is None else f"; sign-flip p {show_p(self.p_sign_flip)}"
        return f"{self.decision} ({', '.join(self.reasons) or self.reason}): {difference} ({sizes}){p}"

    @property
    def published(self) -> bool:
        """Whether nothing withholds it."""
        return not self.reasons

    def sensitivity(self) -> dict[str, Any]:
        """The sensitivity block of a decision: the whole rule rerun on the same pairs, counted otherwise."""
        w = self.weighed
        return sensitivity(self.pairs, self.terms, w.required, set(self.reasons))


def decide(
    pairs: pd.DataFrame,
    protocol: Protocol | Mapping[str, Any] | None = None,
    *,
    strata: Mapping[str, int] | None = None,
    look: int = 1,
) -> Verdict:
    """Apply the publish rule to paired outcomes.

    `pairs` has a row per planned pair: `item_id`, `stratum`, `candidate`, `control` (1 passed, 0 failed, missing where
    there is no outcome); where known `repeat`, `cluster`, `first` (the arm that ran first), `candidate_rule` and
    `control_rule` (the rule that excluded this arm's trial), `candidate_late` and `control_late`,
    `candidate_beside` and `control_beside` (passed only in the tests' own process). Half of an item's rows must be
    kept, or the item goes. `protocol` is a model, or a mapping as in `params.yaml`; what it leaves out is at its
    default. `strata` are items per stratum of the frozen pack, by default those in `pairs`. `look` is 1 for the first
    campaign on a pack.

    Rows that aren't there can't be seen, unless you say what was planned: name `trial_budget`, and each item must have
    that many rows; give `strata`, and each must have that many items. Fewer are `trials_missing`, more are an error.
    Raises InputError naming the column or row.

    Twelve wins and one loss in twenty items each of two strata, three repeats of each:

    >>> import pandas as pd
    >>> outcomes = [(1, 0)] * 12 + [(0, 1)] + [(1, 1)] * 7
    >>> rows = [
    ...     {"item_id": f"{s}-{n}", "stratum": s, "repeat": r, "candidate": a, "control": b}
    ...     for s in ("migration", "repair")
    ...     for n, (a, b) in enumerate(outcomes)
    ...     for r in range(3)
    ... ]
    >>> verdict = decide(pd.DataFrame(rows), {"trial_budget": 3, "alpha": 0.05})
    >>> verdict.decision, str(verdict.delta), float(verdict.lo), float(verdict.hi)
    ('publish', '11/20', 0.35, 0.75)
    >>> few = decide(pd.DataFrame(rows[:15]))
    >>> few.decision, few.reason, few.reasons[:2]
    ('withhold', 'too_few_clean_tasks', ('too_few_clean_tasks', 'no_variance'))
    """
    agreed = _protocol(protocol)
    if type(look) is not int or not 1 <= look <= MOST_LOOKS:
        raise InputError("look", repr(look)[:80], f"a whole number from 1 to {MOST_LOOKS:,}")
    planned = agreed.trial_budget if "trial_budget" in agreed.model_fields_set else None
    table, lacking = pairs_table(pairs, planned)
    seen = {str(k): int(n) for k, n in table.groupby("stratum")["item_id"].nunique().items()}
    sizes = seen if strata is None else _sizes(strata, seen)
    check_design(agreed, sizes, "protocol")
    alpha = alpha_spent(agreed.alpha, look, agreed.family)
    terms = Terms(agreed, sizes, alpha)
    refused = set(table["item_id"][table["candidate_rule"].isin(ITEM_RULES) & table["control_rule"].isin(ITEM_RULES)])
    weighed = weigh(table, terms, refused)
    found = set(weighed.reasons)
    if below_floor(agreed):
        found.add("protocol_below_floor")
    absent = any((table[f"{arm}_rule"].isna() & (table[f"{arm}_status"] == "missing")).any() for arm in ARMS)
    if lacking or absent or sum(sizes.values()) > sum(seen.values()):
        found.add("trials_missing")
    used = {rule for arm in ARMS for rule in table[f"{arm}_rule"].dropna()} - set(FOLLOWING)
    if used - set(agreed.exclusion_rules):
        found.add("posthoc_exclusion")
    base, reasons = weighed.base, tuple(ordered(found))
    interval = base.interval
    return Verdict(
        decision="withhold" if reasons else "publish",
        reason=reasons[0] if reasons else PUBLISHED,
        reasons=reasons,
        delta=base.delta,
        lo=interval.lo if interval else None,
        hi=interval.hi if interval else None,
        bracket_width=interval.width if interval and interval.lo is not None else None,
        p_sign_flip=base.sign_flip.p if base.sign_flip else None,
        alpha_spent=alpha,
        direction=base.direction,
        items=base.items,
        strata=base.labels,
        pairs=table,
        terms=terms,
        weighed=weighed,
    )


def _protocol(given: Protocol | Mapping[str, Any] | None) -> Protocol:
    if isinstance(given, Protocol):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise InputError("protocol", f"a {type(given).__name__}", "a mapping as in params.yaml, or nothing")
    return validate(Protocol, dict(given or {}), "protocol")


def _sizes(given: Mapping[str, int], seen: Mapping[str, int]) -> dict[str, int]:
    """Frozen sizes that hold what is there. Raises InputError naming the stratum."""
    if not isinstance(given, Mapping):
        raise InputError("strata", f"a {type(given).__name__}", "a mapping of stratum to items")
    for name, size in given.items():
        if not isinstance(name, str) or type(size) is not int or not 1 <= size <= limits.MAX_ITEMS:
            raise InputError(f"strata: {name!r}"[:100], repr(size)[:80], f"items from 1 to {limits.MAX_ITEMS:,}")
    for name, size in seen.items():
        if name not in given:
            raise InputError(f"pairs: stratum {name!r}", "isn't frozen", f"one of {', '.join(sorted(given))}")
        if size > given[name]:
            raise InputError(f"pairs: stratum {name}", f"{size} items", f"at most {given[name]}, as frozen")
    return dict(given)
