"""The publish rule on one set of paired outcomes: rules 2 to 7, each failing one by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from stages.contract.design import merged, summary_sizes, weights
from stages.contract.protocol import Protocol
from stages.stats import (
    Design,
    Interval,
    SignFlip,
    Stratum,
    bootstrap_interval,
    design,
    linked_strata,
    side,
    sign_flip,
    stratum_from_arrays,
)


@dataclass(frozen=True)
class Terms:
    """What outcomes are held against: the protocol, items per label of the frozen pack, and the alpha that is spent."""

    protocol: Protocol
    strata: Mapping[str, int]
    alpha: Fraction


@dataclass(frozen=True)
class Judged:
    """What the rule finds. `reasons` empty means that the numbers may be published.

    `direction` is what would be claimed: 1 that the candidate is better (or not worse by the margin), -1 worse, 0
    neither. `items` counts kept items of each stratum of the summary, `labels` maps each original label of the
    summary to its mean difference. Without any kept item in some stratum of the summary there is no design.
    """

    design: Design | None
    interval: Interval | None
    sign_flip: SignFlip | None
    delta: Fraction | None
    delta_equal: Fraction | None
    delta_proportional: Fraction | None
    direction: int
    items: dict[str, int]
    labels: dict[str, Fraction]
    reasons: set[str]


def fewest(pairs: pd.DataFrame) -> pd.Series:
    """Fewest pairs that an item is kept with, by item id: half of those that were planned, rounded up."""
    planned: pd.Series = pairs.groupby("item_id").size()
    return (planned + 1) // 2


def items_of(pairs: pd.DataFrame, least: pd.Series | int) -> pd.DataFrame:
    """Kept pairs (columns item_id, stratum, cluster, candidate, control) as items.

    One row per item with `gains` (candidate's passes minus control's), `pairs`, `pair_wins` and `pair_losses`; items
    with fewer than `least` pairs (a number, or one per item id) are left out.
    """
    gains = pairs["candidate"].astype("int64") - pairs["control"].astype("int64")
    frame = pairs.assign(gains=gains, pair_wins=gains > 0, pair_losses=gains < 0)
    grouped = frame.groupby("item_id", sort=True)
    items = pd.DataFrame(
        {
            "stratum": grouped["stratum"].first(),
            "cluster": grouped["cluster"].first(),
            "gains": grouped["gains"].sum(),
            "pairs": grouped.size(),
            "pair_wins": grouped["pair_wins"].sum(),
            "pair_losses": grouped["pair_losses"].sum(),
        }
    ).reset_index()
    floor = least if isinstance(least, int) else items["item_id"].map(least)
    return items[items["pairs"] >= floor]


def _mean(rows: pd.DataFrame) -> Fraction:
    """Mean difference of items."""
    gains, pairs = rows["gains"].to_numpy("int64"), rows["pairs"].to_numpy("int64")
    total = sum((Fraction(int(gains[pairs == k].sum()), int(k)) for k in np.unique(pairs)), Fraction(0))
    return total / len(rows)


def clusters_of(rows: pd.DataFrame) -> list[tuple[str, str]] | None:
    """The cluster of each item, None where there is none. An item without one is a cluster of its own beside others."""
    if not rows["cluster"].notna().any():
        return None
    own = zip(rows["cluster"], rows["item_id"], strict=True)
    return [("item", str(item)) if pd.isna(cluster) else ("cluster", str(cluster)) for cluster, item in own]


def stratum_of(name: str, rows: pd.DataFrame) -> Stratum:
    """Items as a stratum of units."""
    gains, pairs = rows["gains"].to_numpy("int64"), rows["pairs"].to_numpy("int64")
    return stratum_from_arrays(name, gains, pairs, clusters_of(rows))


def design_of(items: pd.DataFrame, terms: Terms) -> Design | None:
    """Strata of the summary with their weights. None if a stratum has no item left."""
    protocol = terms.protocol
    held = dict(iter(items.groupby(summed_under(protocol, items["stratum"]), sort=False)))
    rows = {name: held[name] for name in summary_sizes(protocol, terms.strata) if name in held}
    if len(rows) < len(summary_sizes(protocol, terms.strata)):
        return None
    shares = weights(protocol, terms.strata)
    strata, weighing = [], {}
    for names in linked(rows):
        if len(names) == 1:
            strata.append(stratum_of(names[0], rows[names[0]]))
            weighing[names[0]] = shares[names[0]]
            continue
        parts = [(shares[name], _differences(rows[name]), clusters_of(rows[name]) or []) for name in names]
        weight, made = linked_strata(_joined(names, rows), parts)
        strata.append(made)
        weighing[made.name] = weight
    return design(strata, weighing)


def summed_under(protocol: Protocol, labels: pd.Series) -> pd.Series:
    """The stratum of the summary of each label."""
    return labels.map({label: merged(protocol, label) for label in labels.unique()})


def linked(rows: Mapping[str, pd.DataFrame]) -> list[list[str]]:
    """Strata in groups that share no cluster with each other; those that share one are resampled together."""
    groups: list[tuple[list[str], set[str]]] = []
    alone: list[list[str]] = []
    for name, own in rows.items():
        clusters = {str(c) for c in own["cluster"].dropna().unique()}
        if not clusters:
            alone.append([name])
            continue
        joined = [group for group in groups if group[1] & clusters]
        groups = [group for group in groups if not group[1] & clusters]
        groups.append(
            ([*(n for names, _ in joined for n in names), name], clusters.union(*(other for _, other in joined)))
        )
    return sorted([*alone, *(sorted(names) for names, _ in groups)])


def _joined(names: list[str], taken: Mapping[str, object]) -> str:
    """A name for linked strata that none of them has."""
    name = " + ".join(names)
    while name in taken:
        name += "'"
    return name


def _differences(rows: pd.DataFrame) -> list[Fraction]:
    return [Fraction(int(g), int(p)) for g, p in zip(rows["gains"], rows["pairs"], strict=True)]


def judge(
    items: pd.DataFrame, terms: Terms, interval_of: Callable[[Design, Fraction], Interval] = bootstrap_interval
) -> Judged:
    """Apply rules 2 to 7 to items as `items_of` gives them."""
    protocol, alpha = terms.protocol, terms.alpha
    reasons: set[str] = set()
    kept = dict.fromkeys(summary_sizes(protocol, terms.strata), 0)
    labels: dict[str, Fraction] = {}
    for label, rows in items.groupby("stratum", sort=True):
        into = merged(protocol, str(label))
        if into in kept:
            kept[into] += len(rows)
            labels[str(label)] = _mean(rows)
    if sum(kept.values()) < protocol.min_kept_items:
        reasons.add("too_few_clean_tasks")
    if any(count < protocol.min_stratum_items for count in kept.values()):
        reasons.add("stratum_too_small")
    made = design_of(items, terms)
    if made is None:
        return Judged(None, None, None, None, None, None, 0, kept, labels, reasons)
    interval = interval_of(made, alpha)
    margin = protocol.margin or Fraction(0)
    flip = sign_flip(made, margin)
    delta = interval.delta
    held = items.groupby(summed_under(protocol, items["stratum"]), sort=False)
    means = {str(name): _mean(rows) for name, rows in held if name in kept}
    others = [
        sum((w * means[name] for name, w in weights(protocol, terms.strata, kind).items()), Fraction(0))
        for kind in ("equal", "proportional")
    ]
    if not interval.moments.variance:
        reasons.add("no_variance")
    if protocol.claim == "superiority" and abs(delta) < protocol.min_detectable_effect:
        reasons.add("below_minimum_detectable_effect")
    where = side(interval, -margin)
    if where == "undecided":
        reasons.add("bracket_undecided")
    elif where == "inside" or (where == "below" and protocol.claim == "noninferiority"):
        reasons.add("interval_crosses_zero")
    if flip.p > alpha:
        reasons.add("sign_flip_not_significant")
    reasons |= _strata_reasons(protocol, delta, labels, others, margin)
    direction = 1 if delta > 0 or protocol.claim == "noninferiority" else -1 if delta < 0 else 0
    return Judged(made, interval, flip, delta, others[0], others[1], direction, kept, labels, reasons)


def _strata_reasons(
    protocol: Protocol, delta: Fraction, labels: dict[str, Fraction], others: list[Fraction], margin: Fraction
) -> set[str]:
    """Rule 7 on the original labels, and whether the choice of weights makes the sign."""
    reasons = set()
    if protocol.claim == "noninferiority":
        if any(value < -margin for value in labels.values()):
            reasons.add("strata_disagree")
        if (others[0] + margin) * (others[1] + margin) < 0:
            reasons.add("weights_decide")
        return reasons
    sign = 1 if delta > 0 else -1
    if delta and any(-sign * value > protocol.min_detectable_effect for value in labels.values()):
        reasons.add("strata_disagree")
    if min(delta, *others) < 0 < max(delta, *others):
        reasons.add("weights_decide")
    return reasons
