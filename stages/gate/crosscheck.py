"""The interval once more by resampling: fine print of the report. It never decides, since a seed can be shopped."""

from __future__ import annotations

from typing import Any

import numpy as np

from stages.gate.evidence import Evidence, tidy
from stages.gate.rule import Terms, fewest, items_of, judge
from stages.gate.views import kept_pairs
from stages.stats import alpha_spent, multinomial_bootstrap

REPLICATES = 10_000
SEED = 0


def cross_check(evidence: Evidence) -> dict[str, Any] | None:
    """`lo` and `hi` of a multinomial bootstrap at the decision's own tail level; None where there is no interval."""
    ev = tidy(evidence)
    protocol = ev.manifest.protocol
    if ev.manifest.study.mode != "benchmark":
        return None
    alpha = alpha_spent(protocol.alpha, int(ev.campaign["look"]), protocol.family)
    base = judge(items_of(kept_pairs(ev.pairs), fewest(ev.pairs)), Terms(protocol, ev.manifest.strata, alpha))
    if base.design is None or base.interval is None or base.interval.tail_level is None:
        return None
    drawn = multinomial_bootstrap(base.design, REPLICATES, np.random.default_rng(SEED))
    level = base.interval.tail_level
    lo, hi = (float(x) for x in np.quantile(drawn, [level, 1 - level]))
    return {"lo": lo, "hi": hi, "replicates": REPLICATES, "seed": SEED}
