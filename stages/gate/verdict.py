"""The publish rule for notebooks: a table of pairs and a protocol in, a verdict out. No study folder is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from stages.contract.design import check_design
from stages.contract.errors import InputError
from stages.contract.protocol import ITEM_RULES, Protocol
from stages.contract.types import validate
from stages.gate.evidence import ARMS, FOLLOWING
from stages.gate.floors import below_floor
from stages.gate.reasons import PUBLISHED, RULES, ordered
from stages.gate.rule import Terms, fewest
from stages.gate.views import sensitivity
from stages.gate.weigh import Weighed, weigh
from stages.stats import alpha_spent

_WHERE = "pairs"


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
    pairs: pd.DataFrame
    terms: Terms
    weighed: Weighed

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
    `control_rule` (the rule that excluded this arm's trial), `candidate_late` and `control_late`. Half of an item's
    rows must be kept, or the item goes. `protocol` is a model, or a mapping as in `params.yaml`; what it leaves out is
    at its default. `strata` are items per stratum of the frozen pack, by default those in `pairs`. `look` is 1 for the
    first campaign on a pack. Raises InputError naming the column or row.

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
    agreed = protocol if isinstance(protocol, Protocol) else validate(Protocol, dict(protocol or {}), "protocol")
    if look < 1:
        raise InputError("look", str(look), "1 or more")
    table = _checked(pairs)
    seen = table.groupby("stratum")["item_id"].nunique()
    sizes = {str(name): int(size) for name, size in seen.items()} if strata is None else dict(strata)
    odd = sorted(set(seen.index) - set(sizes))
    if odd:
        raise InputError(f"{_WHERE}: stratum", f"{odd[0]!r}", f"one of the frozen strata {', '.join(sorted(sizes))}")
    check_design(agreed, sizes, "protocol")
    alpha = alpha_spent(agreed.alpha, look, agreed.family)
    terms = Terms(agreed, sizes, alpha)
    refused = set(table["item_id"][table["candidate_rule"].isin(ITEM_RULES) & table["control_rule"].isin(ITEM_RULES)])
    weighed = weigh(table, terms, refused)
    found = set(weighed.reasons)
    if below_floor(agreed):
        found.add("protocol_below_floor")
    if any((table[f"{arm}_rule"].isna() & (table[f"{arm}_status"] == "missing")).any() for arm in ARMS):
        found.add("trials_missing")
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


def _checked(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs as the rule reads them: all columns there, types fixed, kept or not, thin items dropped by rule."""
    for name in ("item_id", "stratum", *ARMS):
        if name not in pairs.columns:
            raise InputError(_WHERE, f"no column {name}", "columns item_id, stratum, candidate, control")
    if not len(pairs):
        raise InputError(_WHERE, "no row", "a row per planned pair")
    made = pd.DataFrame({name: pairs[name].to_numpy() for name in ("item_id", "stratum")})
    for name in made.columns:
        if made[name].isna().any() or pd.api.types.infer_dtype(made[name]) != "string":
            raise InputError(f"{_WHERE}: {name}", "a value that is no text", "text in every row")
    several = made.groupby("item_id")["stratum"].nunique()
    if (several > 1).any():
        raise InputError(f"{_WHERE}: {several.idxmax()}", "two strata", "one stratum for all pairs of an item")
    made["repeat"] = pairs["repeat"].to_numpy() if "repeat" in pairs else made.groupby("item_id").cumcount()
    twice = made.duplicated(["item_id", "repeat"])
    if twice.any():
        row = made[twice].iloc[0]
        raise InputError(f"{_WHERE}: {row['item_id']}", f"repeat {row['repeat']} twice", "a row per item and repeat")
    for name in ("cluster", "candidate_rule", "control_rule"):
        column = (
            pairs[name].astype(object).to_numpy(copy=True) if name in pairs else np.full(len(made), None, dtype=object)
        )
        column[pd.isna(column)] = None
        made[name] = column
    for arm in ARMS:
        made[arm] = _outcomes(pairs, arm)
        rule = made[f"{arm}_rule"]
        unknown = rule[rule.notna() & ~rule.isin(list(RULES))]
        if len(unknown):
            raise InputError(f"{_WHERE}: {arm}_rule", f"{unknown.iloc[0]!r}", f"one of {', '.join(RULES)}")
        ended = np.where(made[arm].fillna(0) == 1, "passed", "failed")
        status = np.where(made[arm].isna(), np.where(rule == "lost", "lost", "missing"), ended)
        made[f"{arm}_status"] = status
        late = f"{arm}_late"
        made[late] = pairs[late].to_numpy().astype(bool) if late in pairs else False
    made["first"] = pairs["first"].to_numpy() if "first" in pairs else "none"
    whole = made["candidate"].notna() & made["control"].notna()
    made["kept"] = whole & made["candidate_rule"].isna() & made["control_rule"].isna()
    kept = made[made["kept"]].groupby("item_id").size()
    thin = kept[kept < fewest(made).reindex(kept.index)].index
    if len(thin):
        rows = made["item_id"].isin(thin) & made["kept"]
        made.loc[rows, ["candidate_rule", "control_rule"]] = FOLLOWING[1]
        made.loc[rows, "kept"] = False
    return made.sort_values(["item_id", "repeat"], ignore_index=True)


def _outcomes(pairs: pd.DataFrame, arm: str) -> pd.Series:
    """Outcomes as nullable integers. Raises InputError for any but 0, 1, true, false or a missing one."""
    column = pairs[arm]
    if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)):
        column = column.astype(object).where(column.notna(), None)
        if not all(v is None or isinstance(v, bool | int | float | np.number | np.bool_) for v in column):
            raise InputError(f"{_WHERE}: {arm}", "a value that is no outcome", "1, 0 or missing")
        column = column.astype("Float64")
    values = column.reset_index(drop=True)
    odd = values[values.notna() & ~values.isin([0, 1])]
    if len(odd):
        raise InputError(f"{_WHERE}: {arm}", f"{odd.iloc[0]} in row {odd.index[0]}", "1, 0 or missing")
    made: pd.Series = values.astype("Int64")
    return made
