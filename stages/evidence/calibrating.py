"""`weighbridge calibrate`: the publish rule on simulated studies of a design, null and with an effect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages.evidence.assumed import Options, Say, described, drawable, population_of, setup_of, simulated, workers_of
from stages.evidence.designs import ask, scheme_of, whole

if TYPE_CHECKING:
    from stages.gate.calibrate import Calibration, Share

MOST_DATASETS = 1_000_000


def calibrate_study(
    root: Path,
    sizes: Sequence[str],
    repeats: int | None,
    cluster_size: int | None,
    look: int | None,
    options: Options,
    say: Say,
) -> dict[str, Any]:
    """The publish rule on simulated A/A and effect data of a design, as JSON-ready data. Raises as `plan_study`."""
    from stages.stats import detectable, headroom

    whole("--datasets", options.datasets, 10, MOST_DATASETS)
    whole("--seed", options.seed, 0, 2**53 - 1)
    workers_of(options.workers)
    asked = ask(root, sizes, repeats, cluster_size, look)
    population = population_of(asked, options, None)
    scheme = scheme_of(asked)
    null = 0.0 if scheme.margin is None else -scheme.margin
    chosen = list(options.effects)
    if not chosen:
        found = detectable(
            scheme, asked.protocol.trial_budget, headroom(population.p, population.icc), population.cluster_sd
        )
        chosen = [math.ceil(1000 * (min(0.2 if found is None else found, 0.9 * (1 - population.p)) + null)) / 1000]
    for effect in (null, *chosen):
        drawable(population, effect)
    for line in asked.cannot:
        say(f"this design can't publish: {line}")
    made = simulated(setup_of(asked, population, options.seed), [null, *chosen], options, say)
    return {
        "design": described(asked, scheme, population.cluster_sd),
        "cannot_publish": asked.cannot,
        "model": f"Beta-binomial: {headroom(population.p, population.icc).model}"
        + (f", clusters' effects of sd {population.cluster_sd:g}" if population.cluster_sd else ""),
        "datasets": options.datasets,
        "seed": options.seed,
        "null": _scenario(made[0], "false_publication"),
        "effects": [_scenario(one, "power") for one in made[1:]],
    }


def _scenario(made: Calibration, name: str) -> dict[str, Any]:
    from stages.stats import sig6

    def shown(share: Share | None) -> dict[str, Any] | None:
        return None if share is None else {"value": sig6(share.value), "error": sig6(share.error), "of": share.of}

    return {
        "effect": sig6(made.truth),
        name: shown(made.published),
        "wrong_direction": shown(made.wrong),
        "coverage": shown(made.coverage),
        "exaggeration": shown(made.exaggeration),
        "withheld": {r: shown(s) for r, s in made.withheld.items()},
        "alone": {r: shown(s) for r, s in made.alone.items()},
    }
