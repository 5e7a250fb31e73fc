"""A table of pairs as people bring it, made into the one that the rule reads; nothing in it is believed unseen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from stages.contract.errors import InputError
from stages.contract.protocol import INSTRUMENT_RULES, ITEM_RULES
from stages.gate.evidence import ARMS, PARTNER
from stages.gate.rule import fewest

_WHERE = "pairs"
_THIN = "too_few_pairs"
_TAKEN = (*ITEM_RULES, *INSTRUMENT_RULES, PARTNER, _THIN)


def pairs_table(pairs: pd.DataFrame, planned: int | None) -> tuple[pd.DataFrame, bool]:
    """(rows of the pairs table in order, whether an item has fewer rows than the `planned` repeats of it).

    Types are fixed, each pair is kept or not, items with fewer than half of their pairs go by a rule of their own. An
    excluded trial without an outcome was run: only one without a rule, or of an item that never ran, is missing. Raises
    InputError naming column, item or row.
    """
    if not isinstance(pairs, pd.DataFrame):
        raise InputError(_WHERE, f"a {type(pairs).__name__}", "a pandas DataFrame")
    doubled = pairs.columns[pairs.columns.duplicated()]
    if len(doubled):
        raise InputError(_WHERE, f"two columns {doubled[0]}", "each once")
    for name in ("item_id", "stratum", *ARMS):
        if name not in pairs.columns:
            raise InputError(_WHERE, f"no column {name}", "columns item_id, stratum, candidate, control")
    if not len(pairs):
        raise InputError(_WHERE, "no row", "a row per planned pair")
    made = pd.DataFrame({name: _names(pairs, name) for name in ("item_id", "stratum")})
    made["repeat"] = _repeats(pairs) if "repeat" in pairs else made.groupby("item_id").cumcount()
    twice = made.duplicated(["item_id", "repeat"])
    if twice.any():
        row = made[twice].iloc[0]
        raise InputError(f"{_WHERE}: {row['item_id']}", f"repeat {row['repeat']} twice", "a row per item and repeat")
    for name in ("cluster", "candidate_rule", "control_rule"):
        made[name] = _names(pairs, name, optional=True) if name in pairs else None
    _one_each(made, "stratum", "strata")
    _one_each(made, "cluster", "clusters")
    for arm in ARMS:
        made[arm] = _outcomes(pairs, arm)
        for flag in (f"{arm}_late", f"{arm}_beside"):
            made[flag] = _outcomes(pairs, flag).fillna(0).to_numpy(bool) if flag in pairs else False
    _check_rules(made)
    for arm in ARMS:
        ended = np.where(made[arm].fillna(0) == 1, "passed", "failed")
        never = made[f"{arm}_rule"].isna() | made[f"{arm}_rule"].isin(ITEM_RULES)
        made[f"{arm}_status"] = np.where(made[arm].isna(), np.where(never, "missing", "lost"), ended)
    made["first"] = _first(pairs)
    whole = made["candidate"].notna() & made["control"].notna()
    made["kept"] = whole & made["candidate_rule"].isna() & made["control_rule"].isna()
    rows = made.groupby("item_id").size()
    if planned is not None and (rows > planned).any():
        raise InputError(f"{_WHERE}: {rows.idxmax()}", f"{rows.max()} rows", f"at most trial_budget, {planned}")
    kept = made[made["kept"]].groupby("item_id").size()
    thin = kept[kept < fewest(made).reindex(kept.index)].index
    if len(thin):
        gone = made["item_id"].isin(thin) & made["kept"]
        made.loc[gone, ["candidate_rule", "control_rule"]] = _THIN
        made.loc[gone, "kept"] = False
    made = made.sort_values(["item_id", "repeat"], ignore_index=True)
    return made, planned is not None and bool((rows < planned).any())


def _column(pairs: pd.DataFrame, name: str) -> Any:
    """A column's values as objects, missing ones None."""
    values = pairs[name].astype(object).to_numpy(copy=True)
    values[[v is None or v is pd.NaT or v is pd.NA or (isinstance(v, float) and v != v) for v in values]] = None
    return values


def _names(pairs: pd.DataFrame, name: str, optional: bool = False) -> Any:
    """Text, missing only where it may be; whole numbers name clusters too."""
    values = _column(pairs, name)
    for row, value in enumerate(values):
        if value is None and optional:
            continue
        if name == "cluster" and isinstance(value, int | np.integer) and not isinstance(value, bool):
            values[row] = value = str(value)
        if not isinstance(value, str):
            found = f"{value!r:.80} in row {row}, which is no text"
            raise InputError(f"{_WHERE}: {name}", found, "text in every row", "astype(str) makes it so")
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise InputError(f"{_WHERE}: {name}", f"{value!r:.80} in row {row}", "text that is valid Unicode")
    return values


def _repeats(pairs: pd.DataFrame) -> Any:
    """Whole numbers from 0."""
    values = _column(pairs, "repeat")
    for row, value in enumerate(values):
        whole = isinstance(value, int | np.integer) or (isinstance(value, float) and value.is_integer())
        if not whole or not 0 <= value < 2**31:
            raise InputError(f"{_WHERE}: repeat", f"{value!r:.80} in row {row}", "a whole number from 0")
    return values.astype("int64")


def _outcomes(pairs: pd.DataFrame, name: str) -> pd.Series:
    """Outcomes as nullable integers. Raises InputError for any but 0, 1, true, false or a missing one."""
    values = _column(pairs, name)
    for row, value in enumerate(values):
        if value is not None and not (isinstance(value, bool | int | float | np.number | np.bool_) and value in (0, 1)):
            raise InputError(f"{_WHERE}: {name}", f"{value!r:.80} in row {row}", "1, 0 or missing")
    return pd.Series([pd.NA if value is None else int(value.real) for value in values], dtype="Int64")


def _first(pairs: pd.DataFrame) -> Any:
    """The arm that ran first in each pair, `none` where it isn't known."""
    if "first" not in pairs:
        return "none"
    values = _names(pairs, "first", optional=True)
    for row, value in enumerate(values):
        if value not in (*ARMS, "none", None):
            known = "candidate, control, or nothing where it isn't known"
            raise InputError(f"{_WHERE}: first", f"{value!r:.80} in row {row}", known)
    values[[value is None for value in values]] = "none"
    return values


def _one_each(made: pd.DataFrame, name: str, several: str) -> None:
    """Raise InputError for an item with two strata or clusters, or with a cluster in some rows only."""
    found = made.groupby("item_id")[name].nunique(dropna=False)
    if (found > 1).any():
        raise InputError(f"{_WHERE}: {found.idxmax()}", f"two {several}", f"one {name} for all pairs of an item")


def _check_rules(made: pd.DataFrame) -> None:
    """Refuse rules that nothing bears out: each would be a way to leave out a pair that no limit sees.

    An item rule stands on every trial of its item; a partner goes only where the other trial was excluded or is
    missing; which items are too thin is counted here and not believed.
    """
    for arm in ARMS:
        rule = made[f"{arm}_rule"]
        unknown = rule[rule.notna() & ~rule.isin(_TAKEN)]
        if len(unknown):
            found = f"{unknown.iloc[0]!r:.80} in row {unknown.index[0]}"
            raise InputError(f"{_WHERE}: {arm}_rule", found, f"one of {', '.join(_TAKEN)}")
        made[f"{arm}_rule"] = rule.where(rule != _THIN, None)
    whole = made["candidate_rule"].isin(ITEM_RULES) & (made["candidate_rule"] == made["control_rule"])
    some = made["candidate_rule"].isin(ITEM_RULES) | made["control_rule"].isin(ITEM_RULES)
    partly = set(made["item_id"][some]) & set(made["item_id"][~whole])
    if partly:
        raise InputError(
            f"{_WHERE}: {min(partly)}", "an item rule on some of its trials", "on all of them, in both arms"
        )
    for arm, other in (ARMS, ARMS[::-1]):
        excluded = made[f"{other}_rule"].notna() & (made[f"{other}_rule"] != PARTNER)
        gone = (made[f"{arm}_rule"] == PARTNER) & ~excluded & made[other].notna()
        alone = gone | ((made[f"{arm}_rule"] == PARTNER) & (made[f"{other}_rule"] == PARTNER))
        if alone.any():
            row = made[alone].iloc[0]
            found = f"{PARTNER} where the {other}'s trial is counted"
            raise InputError(f"{_WHERE}: {row['item_id']}, repeat {row['repeat']}", found, "a rule on that trial")
