"""The figures of a benchmark's decision: summary, strata, arms, sensitivity, and the reasons that they give."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd

from stages.contract.design import merged, summary_sizes
from stages.contract.protocol import Protocol
from stages.gate.evidence import Evidence
from stages.gate.metrics import arm_metrics, densities, win_rate
from stages.gate.planned import planned_mde80
from stages.gate.rule import Judged, Terms, stratum_of
from stages.gate.secondary import interval_row, real, secondary
from stages.gate.views import sensitivity
from stages.gate.weigh import weigh
from stages.gate.wording import figures_of
from stages.stats import design, mde80_observed, sig6
from stages.stats.fmt import SMALLEST_P

PARTS = (
    *("summary", "strata", "arms", "win_rate", "secondary", "densities"),
    *("sensitivity", "asymmetry", "excluded_share"),
)
"""What a study that is no benchmark has none of."""


def benchmark_figures(ev: Evidence, alpha: Fraction) -> tuple[dict[str, Any], dict[str, str], set[str]]:
    """(parts of the decision, reason id to its figures, kept items): rules 2 to 8 at the alpha that is spent."""
    terms = Terms(ev.manifest.protocol, ev.manifest.strata, alpha)
    refused = {i.item_id for i in ev.plan.items if not ev.admitted["items"][i.item_id]["admitted"]}
    replaced = {(row["item_id"], row["arm"], row["repeat"]) for row in ev.replaced}
    weighed = weigh(ev.pairs, terms, refused, replaced)
    items, base = weighed.items, weighed.base
    parts: dict[str, Any] = {
        "summary": summary_figures(terms.protocol, base, alpha, ev.plan.trial_budget, _planned(ev, alpha)),
        "strata": strata_figures(terms, items),
        "arms": arm_metrics(ev),
        "win_rate": win_rate(items),
        "secondary": secondary(ev, terms, items),
        "densities": densities(ev),
        "sensitivity": sensitivity(ev.pairs, terms, weighed.required, weighed.reasons),
        **weighed.exclusions,
    }
    details = {r: figures_of(r, terms.protocol, base, parts) for r in weighed.reasons}
    return parts, details, set(items["item_id"])


def _p(value: float) -> float:
    """Six digits, but none beyond 1e-12, where other machines compute others; 1e-12 stands for that or less."""
    return sig6(max(round(value, 12), SMALLEST_P))


def summary_figures(
    protocol: Protocol, base: Judged, alpha: Fraction, repeats: int, planned: float | None
) -> dict[str, Any]:
    """The summary block. `planned` is the MDE80 that the design had before outcomes, None beyond any difference."""
    interval, least = base.interval, protocol.margin or protocol.min_detectable_effect
    df = mde = None
    if base.design is not None and interval is not None and interval.moments.variance and interval.moments.df:
        variance, df = interval.moments.variance, interval.moments.df
        units = sum(s.n for _, s in base.design.weighted)
        mde = mde80_observed(variance, df, units, repeats, alpha)
    return {
        "items": sum(base.items.values()),
        "delta": real(base.delta),
        "lo": real(interval.lo) if interval else None,
        "hi": real(interval.hi) if interval else None,
        "interval_why": interval.why if interval else "a stratum of the summary has no item left",
        "alpha": sig6(protocol.alpha),
        "alpha_spent": sig6(alpha),
        "tail_level": real(interval.tail_level) if interval else None,
        "p_sign_flip": _p(base.sign_flip.p) if base.sign_flip else None,
        "kind": interval.kind if interval else "none",
        "bracket_width": real(interval.width) if interval else None,
        "df": real(df),
        "mde80": mde,
        "mde80_planned": planned,
        "mde80_planned_exceeds_minimum": planned is None or planned > float(least),
        "delta_equal": real(base.delta_equal),
        "delta_proportional": real(base.delta_proportional),
    }


def _planned(ev: Evidence, alpha: Fraction) -> float | None:
    """MDE80 as freeze recorded it for the first look; a later one spends less, and detects less."""
    if alpha == ev.manifest.alpha_first_look:
        return ev.manifest.mde80
    labels = ((i.stratum, i.cluster) for i in ev.plan.items if not i.placebo)
    return planned_mde80(ev.manifest.protocol, labels, alpha)


def strata_figures(terms: Terms, items: pd.DataFrame) -> dict[str, Any]:
    """Every original label beside the summary; below the floor it is a case series, without a rate."""
    protocol = terms.protocol
    inside = summary_sizes(protocol, terms.strata)
    result: dict[str, Any] = {}
    held = dict(iter(items.groupby("stratum", sort=False)))
    for label, planned in sorted(terms.strata.items()):
        rows = held.get(label, items.iloc[:0])
        into = merged(protocol, label)
        series = into not in inside or len(rows) < protocol.min_stratum_items
        won = win_rate(rows)
        won.pop("rate")
        entry: dict[str, Any] = {
            "items_planned": planned,
            "items": len(rows),
            **won,
            "delta": None,
            "lo": None,
            "hi": None,
            "case_series": series,
            "merged_into": into if into != label else None,
        }
        if series:
            picked = zip(rows["item_id"], rows["gains"].tolist(), rows["pairs"].tolist(), strict=True)
            entry["series"] = [{"item_id": i, "gains": g, "pairs": p} for i, g, p in picked]
        else:
            entry |= interval_row(design([stratum_of(label, rows)]), terms.alpha)
        result[label] = entry
    return result
