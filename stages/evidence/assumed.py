"""What is assumed of items and effects beyond the design: from the command line, a pilot, or the defaults."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages.contract.digest import rational_text
from stages.contract.errors import UsageError
from stages.evidence.designs import Asked, real

if TYPE_CHECKING:
    from stages.gate.calibrate import Setup
    from stages.stats import Pilot, Population, Scheme


@dataclass(frozen=True)
class Options:
    """What the command line says beyond the design. None: as the study, the pilot or the default has it."""

    effects: Sequence[float] = ()
    rate: float | None = None
    icc: float | None = None
    cluster_sd: float | None = None
    cost_ratio: float | None = None
    pilot: Path | None = None
    datasets: int = 2000
    seed: int = 0
    workers: str = "auto"
    figure: Path | None = None


def population_of(asked: Asked, options: Options, pilot: Pilot | None) -> Population:
    from stages.stats import Population

    rate, icc = options.rate, options.icc
    if pilot is not None:
        rate, icc = min(max(pilot.p, 0.02), 0.98), pilot.icc
    sd = (0.2 if asked.clustered else 0.0) if options.cluster_sd is None else options.cluster_sd
    if sd and not asked.clustered:
        raise UsageError("--cluster-sd", f"{sd:g} without clusters", "--clusters M, or clusters in the pack's tasks")
    return Population(
        p=real("--rate", 0.5 if rate is None else rate, 0, 1, ends=False),
        icc=real("--icc", 0.4 if icc is None else icc, 0, 1),
        cluster_sd=real("--cluster-sd", sd, 0, 1),
    )


def drawable(population: Population, effect: float, simulated: bool = True) -> None:
    """Refuse an effect that no rates can have or, where data are to be drawn, that leaves clusters no room."""
    real("--effect", effect, -1, 1)
    try:
        if simulated:
            population.reach(effect)
        else:
            population.check_effect(effect)
    except ValueError as error:
        raise UsageError("--effect", f"{effect:g}", str(error)) from None


def setup_of(asked: Asked, population: Population, seed: int) -> Setup:
    from stages.gate.calibrate import Setup

    return Setup(asked.protocol, asked.sizes, asked.items, population, asked.look, seed)


def workers_of(text: str) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if text == "auto":
        return cores
    if not (text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= 512):
        raise UsageError("--workers", repr(text), "auto, or a number from 1 to 512")
    return int(text)


def described(asked: Asked, scheme: Scheme, cluster_sd: float) -> dict[str, Any]:
    from stages.stats import sig6

    protocol = asked.protocol
    return {
        "source": asked.source,
        "labels": asked.sizes,
        "merges": protocol.merges,
        "case_series": protocol.case_series,
        "weights": {name: rational_text(weight) for name, weight in scheme.weights.items()},
        "items": scheme.items,
        "units": scheme.units,
        "clustered": asked.clustered,
        "cluster_sd": cluster_sd,
        "repeats": protocol.trial_budget,
        "claim": protocol.claim,
        "minimum": sig6(protocol.min_detectable_effect),
        "margin": None if protocol.margin is None else sig6(protocol.margin),
        "alpha": sig6(protocol.alpha),
        "alpha_spent": sig6(Fraction(scheme.alpha)),
        "look": asked.look,
        "family": protocol.family,
    }
