"""Secondary measures with paired intervals, by the same machinery and under the same weights. None of them can crown.

Each is a count per trial, averaged over an item's kept pairs in either arm; the difference is resampled as that of the
summary, at the same alpha, without a correction for how many measures are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pandas as pd

from stages.contract.design import merged, summary_sizes
from stages.gate.evidence import ARMS, Evidence
from stages.gate.metrics import ENVELOPE_RULES, FEW_ITEMS, share
from stages.gate.rule import Terms, design_of, stratum_of
from stages.stats import Design, bootstrap_interval, design, sig6

_KEY = ["item_id", "repeat"]

_MEASURES: dict[str, Callable[[pd.DataFrame], pd.Series]] = {
    "oracle_pass": lambda rows: rows["passed"],
    "inside_contract_pass": lambda rows: (rows["passed"] == 1) & (rows["inside_contract"] == "pass"),
    "timeout": lambda rows: rows["status"] == "timeout",
    "abort": lambda rows: rows["status"] == "aborted",
    "broken": lambda rows: rows["status"] == "broken",
    "violations": lambda rows: rows["violations"],
    "extended": lambda rows: rows["extended"],
    "interface_drift": lambda rows: (rows["interface_drift"] > 0).astype("Int64").mask(rows["interface_drift"].isna()),
}
"""Count of one trial, by name; missing where the measure doesn't apply to the trial."""


def real(value: Fraction | float | None) -> float | None:
    """Six significant digits, None stays None."""
    return None if value is None else sig6(value)


def interval_row(of: Design, alpha: Fraction) -> dict[str, Any]:
    """`delta`, `lo`, `hi`, how they were computed, and why there are no limits where there are none."""
    found = bootstrap_interval(of, alpha)
    row: dict[str, Any] = {"delta": real(found.delta), "lo": real(found.lo), "hi": real(found.hi), "kind": found.kind}
    row["bracket_width"] = real(found.width)
    return row if found.lo is not None else {**row, "interval_why": found.why}


def secondary(ev: Evidence, terms: Terms, items: pd.DataFrame) -> dict[str, Any]:
    """Measure name to its counts and rates per arm, the paired difference with its interval, and the same per stratum.

    Over the kept pairs of `items`; `outside_envelope` is over all pairs that ran, and `flip` is one count per item.
    """
    kept = ev.pairs[ev.pairs["kept"] & ev.pairs["item_id"].isin(items["item_id"])]
    labels = kept[[*_KEY, "stratum", "cluster"]]
    sides = {
        arm: labels.merge(ev.ledger[ev.ledger["arm"] == arm].drop(columns=["stratum", "cluster"]), on=_KEY)
        for arm in ARMS
    }
    found: dict[str, Any] = {}
    for name, count in _MEASURES.items():
        made = labels.assign(**{arm: count(sides[arm]).astype("Int64").to_numpy() for arm in ARMS}).dropna(
            subset=[*ARMS]
        )
        found[name] = _measure(made, terms, shy=name == "interface_drift")
    per = {arm: sides[arm].groupby("item_id")["passed"].nunique() > 1 for arm in ARMS}
    once = labels.drop_duplicates("item_id")
    found["flip"] = _measure(once.assign(**{arm: once["item_id"].map(per[arm]).astype("Int64") for arm in ARMS}), terms)
    ran = ev.pairs[(ev.pairs["candidate_status"] != "missing") & (ev.pairs["control_status"] != "missing")]
    outside = {arm: ran[f"{arm}_rule"].isin(ENVELOPE_RULES).astype("Int64") for arm in ARMS}
    found["outside_envelope"] = _measure(ran[[*_KEY, "stratum", "cluster"]].assign(**outside), terms)
    return found


def _measure(trials: pd.DataFrame, terms: Terms, shy: bool = False) -> dict[str, Any]:
    """A measure from one row per pair with a count for each arm."""
    grouped = trials.assign(gains=trials["candidate"] - trials["control"]).groupby("item_id", sort=True)
    items = grouped.agg(
        stratum=("stratum", "first"), cluster=("cluster", "first"), gains=("gains", "sum"), pairs=("gains", "size")
    ).reset_index()
    inside = summary_sizes(terms.protocol, terms.strata)
    labels = [label for label in terms.strata if merged(terms.protocol, label) in inside]
    row = _counts(trials[trials["stratum"].isin(labels)])
    made = design_of(items, terms)
    if made is None:
        row |= dict.fromkeys(("delta", "lo", "hi")) | {"kind": "none", "bracket_width": None}
        row["interval_why"] = "a stratum of the summary has no trial that this applies to"
    else:
        row |= interval_row(made, terms.alpha)
    row["items"] = int(items["stratum"].isin(labels).sum())
    if shy and row["items"] < FEW_ITEMS:
        row |= dict.fromkeys(("delta", "lo", "hi")) | {"kind": "none", "bracket_width": None}
        row["interval_why"] = f"fewer than {FEW_ITEMS} items: a case series, counts only"
        for arm in ARMS:
            row[arm]["rate"] = None
    row["strata"] = {label: _stratum(label, trials, items, terms, shy) for label in sorted(terms.strata)}
    return row


def _stratum(label: str, trials: pd.DataFrame, items: pd.DataFrame, terms: Terms, shy: bool) -> dict[str, Any]:
    """One original label; below the floor counts only."""
    mine, rows = trials[trials["stratum"] == label], items[items["stratum"] == label]
    floor = FEW_ITEMS if shy else terms.protocol.min_stratum_items
    row = {**_counts(mine), "items": len(rows), "case_series": len(rows) < floor}
    if not row["case_series"]:
        return row | interval_row(design([stratum_of(label, rows)]), terms.alpha)
    for arm in ARMS:
        row[arm]["rate"] = None
    return row | {"delta": None, "lo": None, "hi": None, "kind": "none", "bracket_width": None}


def _counts(trials: pd.DataFrame) -> dict[str, Any]:
    totals = {arm: int(trials[arm].sum()) for arm in ARMS}
    return {arm: {"count": n, "of": len(trials), "rate": share(n, len(trials))} for arm, n in totals.items()}
