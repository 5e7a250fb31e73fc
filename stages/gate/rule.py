"""The publish rule on one set of paired outcomes: rules 2 to 7, each failing one by name."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pandas as pd

from stages.contract.design import merged, summary_sizes, weights
from stages.contract.plan import Manifest
from stages.stats import Design, Interval, SignFlip, bootstrap_interval, design, side, sign_flip, stratum


@dataclass(frozen=True)
class Judged:
    """What the rule finds. `reasons` empty means that the numbers may be published.

    `strata` maps each stratum of the summary to its single-stratum design, `labels` each original label of the
    summary to its mean difference. Without any kept item in some stratum of the summary there is no design.
    """

    design: Design | None
    interval: Interval | None
    sign_flip: SignFlip | None
    delta: Fraction | None
    delta_equal: Fraction | None
    delta_proportional: Fraction | None
    items: dict[str, int]
    labels: dict[str, Fraction]
    reasons: set[str]

    @property
    def direction(self) -> int:
        """-1, 0 or 1."""
        return 0 if not self.delta else 1 if self.delta > 0 else -1


def items_of(pairs: pd.DataFrame, least: int) -> pd.DataFrame:
    """Kept pairs (columns item_id, stratum, cluster, candidate, control) as items.

    One row per item with `gains` (candidate's passes minus control's) and `pairs`; items with fewer than `least`
    pairs are left out.
    """
    frame = pairs.assign(gains=pairs["candidate"].astype("int64") - pairs["control"].astype("int64"))
    grouped = frame.groupby("item_id", sort=True)
    items = pd.DataFrame(
        {
            "stratum": grouped["stratum"].first(),
            "cluster": grouped["cluster"].first(),
            "gains": grouped["gains"].sum(),
            "pairs": grouped.size(),
        }
    ).reset_index()
    return items[items["pairs"] >= least]


def _mean(rows: pd.DataFrame) -> Fraction:
    values = [Fraction(int(g), int(p)) for g, p in zip(rows["gains"], rows["pairs"], strict=True)]
    return sum(values, Fraction(0)) / len(values)


def build_design(items: pd.DataFrame, manifest: Manifest, only: str | None = None) -> Design | None:
    """Strata of the summary with their weights, or one stratum alone. None if a stratum has no item left."""
    protocol = manifest.protocol
    into = items["stratum"].map(lambda label: merged(protocol, label))
    strata = []
    for name in [only] if only else summary_sizes(protocol, manifest.strata):
        rows = items[into == name]
        if not len(rows):
            return None
        values = [Fraction(int(g), int(p)) for g, p in zip(rows["gains"], rows["pairs"], strict=True)]
        # An item without a cluster is a cluster of its own, so that both kinds may stand in one stratum.
        clusters = None
        if rows["cluster"].notna().any():
            own = zip(rows["cluster"], rows["item_id"], strict=True)
            clusters = [("item", item) if pd.isna(cluster) else ("cluster", cluster) for cluster, item in own]
        strata.append(stratum(name, values, clusters))
    return design(strata) if only else design(strata, weights(protocol, manifest.strata))


def judge(items: pd.DataFrame, manifest: Manifest, alpha: Fraction) -> Judged:
    """Apply rules 2 to 7 to items as `items_of` gives them, at the alpha that is spent."""
    protocol = manifest.protocol
    reasons: set[str] = set()
    kept = dict.fromkeys(summary_sizes(protocol, manifest.strata), 0)
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
    made = build_design(items, manifest)
    if made is None:
        reasons.update(("too_few_clean_tasks", "stratum_too_small"))
        return Judged(None, None, None, None, None, None, kept, labels, reasons)
    interval = bootstrap_interval(made, alpha)
    margin = protocol.margin or Fraction(0)
    flip = sign_flip(made, margin)
    delta = interval.delta
    means = {s.name: s.mean for s in made.strata}
    others = [
        sum((w * means[name] for name, w in weights(protocol, manifest.strata, kind).items()), Fraction(0))
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
    reasons |= _strata_reasons(manifest, delta, labels, others, margin)
    return Judged(made, interval, flip, delta, others[0], others[1], kept, labels, reasons)


def _strata_reasons(
    manifest: Manifest, delta: Fraction, labels: dict[str, Fraction], others: list[Fraction], margin: Fraction
) -> set[str]:
    """Rule 7 on the original labels, and whether the choice of weights makes the sign."""
    protocol = manifest.protocol
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
    if others[0] * others[1] < 0:
        reasons.add("weights_decide")
    return reasons
