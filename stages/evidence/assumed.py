"""What is assumed of items and effects beyond the design, and what a design needs if that is so.

Assumed is what the command line, a pilot or the defaults say. Needed is what the normal model of the rule says, held
against simulations of the rule where that model is a guess.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from stages.contract.digest import rational_text
from stages.contract.errors import UsageError
from stages.evidence.designs import Asked, names_of, real, scheme_of

if TYPE_CHECKING:
    from stages.gate.calibrate import Calibration, Setup
    from stages.stats import Needed, Pilot, Population, Scheme, Spread
    from stages.stats.planner import Chance, Smallest

NEAR = 0.02  # how close to its aim a search by simulation is to come
STEPS = 3  # that it takes at most
UNKNOWN = "the pilot ran one repeat of each item, which doesn't tell noise from true differences"
Say = Callable[[str], None]
F = TypeVar("F")


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
    power: float = 0.8
    grid: bool = False


def population_of(asked: Asked, options: Options, pilot: Pilot | None) -> Population:
    from stages.stats import Population

    rate, icc = options.rate, options.icc
    if pilot is not None:
        rate, icc = min(max(pilot.p, 0.02), 0.98), pilot.icc
    alone = Population(
        p=real("--rate", 0.5 if rate is None else rate, 0, 1, ends=False),
        icc=real("--icc", 0.4 if icc is None else icc, 0, 1),
    )
    sd = 0.0 if options.cluster_sd is None else options.cluster_sd
    if asked.clustered and options.cluster_sd is None:  # rates near 0 or 1 leave less room: half of it
        sd = float(f"{min(0.2, alone.most_sd(0.0) / 2):.2g}")
    if sd and not asked.clustered:
        said = "--cluster-size M, or clusters in the pack's tasks"
        raise UsageError("--cluster-sd", f"{sd:g} without clusters", said)
    return replace(alone, cluster_sd=real("--cluster-sd", sd, 0, 1))


def drawable(population: Population, effect: float, simulated: bool = True) -> None:
    """Refuse an effect that no rates can have or, where data are to be drawn, that leaves clusters no room."""
    real("--effect", effect, -1, 1)
    p, sd = population.p, population.cluster_sd
    if not -p <= effect <= 1 - p:
        lies = f"an effect from {-p:+g} to {1 - p:+g}, since the control passes {p:g}"
        raise UsageError("--effect", f"{effect:+g}", lies)
    most = population.most_sd(effect) if simulated else sd
    if sd > most:
        raise UsageError(
            "--cluster-sd", f"{sd:g} at an effect of {effect:+g}", f"at most {most:.3f}, all that rates leave room for"
        )


def counted(say: Callable[[str], None]) -> Callable[[str], None]:
    """Says lines of progress, the first without its times: the start of the processes would be taken for the pace."""
    lines = itertools.count()
    return lambda line: say(line if next(lines) else line.partition(", ")[0])


def simulated(setup: Setup, effects: Sequence[float], options: Options, say: Say) -> list[Calibration]:
    """Each effect simulated through the publish rule, with progress."""
    from stages.gate.calibrate import run_calibration
    from stages.render import progress

    with progress("data sets", counted(say)) as tick:
        return run_calibration(
            setup,
            effects,
            options.datasets,
            workers_of(options.workers),
            lambda done, planned: tick(done, planned, "", "completed"),
        )


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


@dataclass(frozen=True)
class Aim:
    """What is planned with: design and rule, repeats, what items are drawn from, the chance that is aimed at.

    `normal` is the chance of publishing by the normal model, `simulated` by simulation where that model is a guess.
    `top` is the largest effect that the rates leave room for, from zero or from minus the margin.
    """

    asked: Asked
    scheme: Scheme
    k: int
    population: Population
    spread: Spread
    target: float
    top: float
    normal: Chance
    simulated: Chance
    repeats_unknown: bool

    @property
    def base(self) -> float:
        """Zero, or minus the margin."""
        return -(self.scheme.margin or 0.0)

    def guess(self, scheme: Scheme, k: int, effects: Sequence[float]) -> str | None:
        """Why the normal model is a guess here."""
        from stages.stats.planner import simulate_why

        return simulate_why(scheme, k, effects, self.population)


def aim_of(asked: Asked, options: Options, pilot: Pilot | None, say: Say) -> Aim:
    from stages.stats import headroom, measured
    from stages.stats.planner import by_normal_model, simulate_why

    population = population_of(asked, options, pilot)
    scheme, spread = scheme_of(asked), headroom(population.p, population.icc)
    if pilot is not None:
        spread = measured(pilot.tau_squared, pilot.omega_squared or 0.0, f"the pilot's {pilot.items} items")
    normal = by_normal_model(spread, population.cluster_sd)
    said: list[str] = []

    def simulated(scheme: Scheme, k: float, effects: Sequence[float]) -> list[float]:
        from stages.gate.calibrate import run_calibration

        found = []
        for effect in effects:
            if simulate_why(scheme, int(k), [effect], population) is None or not can_draw(population, effect):
                found += normal(scheme, k, [effect])
                continue
            if not said:
                said.append(f"searching by simulation, {options.datasets:,} data sets a step")
                say(said[0])
            setup = setup_of(_resized(asked, scheme, int(k)), population, options.seed)
            made = run_calibration(setup, [effect], options.datasets, workers_of(options.workers))
            found.append(made[0].published.value)
        return found

    return Aim(
        asked=asked,
        scheme=scheme,
        k=asked.protocol.trial_budget,
        population=population,
        spread=spread,
        target=options.power,
        top=1 - population.p + (scheme.margin or 0.0),
        normal=normal,
        simulated=simulated,
        repeats_unknown=pilot is not None and pilot.omega_squared is None,
    )


def _resized(asked: Asked, scheme: Scheme, k: int) -> Asked:
    """The design with the scheme's items and clusters (of equal sizes), and so many repeats."""
    from stages.stats import Layout

    sizes, strata, clusters = dict(asked.sizes), [], []
    for name, label in zip(names_of(asked), scheme.labels, strict=True):
        sizes[name] = label.items
        strata += [name] * label.items
        for number in range(label.items):
            alone = label.units == label.items
            clusters.append(None if alone else f"{name}/{number * label.units // label.items}")
    protocol = asked.protocol.model_copy(update={"trial_budget": k})
    series = [name for name in asked.sizes if name not in names_of(asked)]
    for name in series:
        strata += [name] * sizes[name]
        clusters += [None] * sizes[name]
    return replace(asked, protocol=protocol, sizes=sizes, items=Layout(tuple(strata), tuple(clusters)))


def can_draw(population: Population, effect: float) -> bool:
    try:
        population.reach(effect)
    except ValueError:
        return False
    return True


def smallest_of(aim: Aim) -> Smallest:
    """The smallest effect that the design publishes often enough."""
    from stages.stats.planner import Smallest, shifted, smallest_effect

    if aim.asked.cannot:
        return Smallest(None, "this design can't publish")

    def find(target: float) -> Smallest:
        return smallest_effect(aim.scheme, aim.k, aim.normal, aim.top, target)

    target = aim.target
    if find(target).effect is None and aim.guess(aim.scheme, aim.k, [aim.base + aim.top]) is not None:
        (model,), (seen,) = (chance(aim.scheme, aim.k, [aim.base + aim.top]) for chance in (aim.normal, aim.simulated))
        if seen < aim.target:
            return Smallest(None, _beyond(aim, f"{100 * seen:.0f} % there, by simulation"))
        target = shifted(aim.target, seen, model)
    found = _corrected(
        aim, find, lambda one: None if one.effect is None else (aim.scheme, aim.k, aim.base + one.effect), target
    )
    if found.effect is not None:
        return found
    return Smallest(None, _beyond(aim, str(found.why)))


def _beyond(aim: Aim, reached: str) -> str:
    room = f"the most that a control passing {aim.population.p:.3g} leaves room for"
    return f"beyond {aim.base + aim.top:+.3g}, {room} ({reached})"


def _corrected(
    aim: Aim, find: Callable[[float], F], where: Callable[[F], tuple[Scheme, int, float] | None], target: float
) -> F:
    """What `find` finds for a chance of publishing, by the normal model: as it is, or where that is a guess corrected.

    `where` is the design, repeats and effect of what was found. There the rule is simulated, and what the model errs by
    is taken off its aim, until it comes near to it.
    """
    from stages.stats.planner import shifted

    tried: list[tuple[float, int, F]] = []
    found = find(target)
    for _ in range(STEPS):
        at = where(found)
        if at is None or aim.guess(at[0], at[1], [at[2]]) is None:
            break
        (model,), (seen,) = (chance(at[0], at[1], [at[2]]) for chance in (aim.normal, aim.simulated))
        tried.append((abs(seen - aim.target), len(tried), found))
        if abs(seen - aim.target) <= NEAR:
            return found
        found = find(shifted(aim.target, seen, model))
    return min(tried)[2] if len(tried) == STEPS else found


def items_of(aim: Aim, k: int, effect: float) -> Needed:
    from stages.stats import items_needed

    return _corrected(
        aim,
        lambda target: items_needed(aim.scheme, k, effect, aim.normal, target),
        lambda found: None if found.scheme is None else (found.scheme, k, effect),
        aim.target,
    )


def repeats_of(aim: Aim, effect: float) -> Needed:
    from stages.stats import Needed, repeats_needed

    if aim.asked.cannot:
        return Needed(None, "this design can't publish")
    if aim.repeats_unknown:
        return Needed(None, UNKNOWN)
    return _corrected(
        aim,
        lambda target: repeats_needed(aim.scheme, effect, aim.normal, target),
        lambda found: None if found.count is None else (aim.scheme, found.count, effect),
        aim.target,
    )


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
        "trials": 2 * scheme.items * protocol.trial_budget,
        "claim": protocol.claim,
        "minimum": sig6(protocol.min_detectable_effect),
        "margin": None if protocol.margin is None else sig6(protocol.margin),
        "alpha": sig6(protocol.alpha),
        "alpha_spent": sig6(Fraction(scheme.alpha)),
        "look": asked.look,
        "look_why": asked.look_why,
        "family": protocol.family,
    }
