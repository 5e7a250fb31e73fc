"""The bootstrap's distribution in bars, as a figure draws it. It decides nothing."""

from __future__ import annotations

import math

import numpy as np

from stages.gate.evidence import Evidence, tidy
from stages.gate.rule import Terms, fewest, items_of, judge
from stages.gate.views import kept_pairs
from stages.stats import alpha_spent, bootstrap_law, sig6

BARS = 60


def bootstrap_shape(evidence: Evidence) -> list[dict[str, float]]:
    """At most `BARS` bars of equal width, `from` and `to` in pass rate, `mass` a probability; none without interval."""
    ev = tidy(evidence)
    protocol = ev.manifest.protocol
    if ev.manifest.study.mode != "benchmark":
        return []
    alpha = alpha_spent(protocol.alpha, int(ev.campaign["look"]), protocol.family)
    base = judge(items_of(kept_pairs(ev.pairs), fewest(ev.pairs)), Terms(protocol, ev.manifest.strata, alpha))
    if base.design is None or base.interval is None or base.interval.lo is None:
        return []
    law = bootstrap_law(base.design)
    seen = np.flatnonzero(law.mass > 1e-6)
    if not seen.size:
        return []
    wide = max(1, math.ceil((int(seen[-1]) - int(seen[0]) + 1) / BARS))
    start, step = float(law.start), float(law.step)
    bars = []
    for left in range(int(seen[0]), int(seen[-1]) + 1, wide):
        mass = float(law.mass[left : left + wide].sum())
        if mass > 0:
            edge = start + (left - 0.5) * step
            bars.append({"from": sig6(edge), "to": sig6(edge + wide * step), "mass": sig6(mass)})
    return bars
