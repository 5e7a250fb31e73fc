"""`weighbridge plan`: what a study can find before it is run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages.contract.design import summary_sizes
from stages.contract.errors import UsageError
from stages.contract.files import replace_bytes
from stages.evidence.assumed import Options, described, drawable, population_of, setup_of, workers_of
from stages.evidence.designs import Asked, ask, real, scheme_of
from stages.evidence.pilots import read_pilot

if TYPE_CHECKING:
    from stages.gate.calibrate import Setup
    from stages.stats import Pilot, Population, Scheme, Spread

PLAN_DATASETS = 400  # where the model is no good: known to 2.5 points at a power of one half
CURVE = 48
Say = Callable[[str], None]


def plan_study(
    root: Path,
    sizes: Sequence[str],
    repeats: int | None,
    clusters: int | None,
    look: int,
    options: Options,
    say: Say,
) -> dict[str, Any]:
    """Detectable effect, power, exaggeration, items and repeats of a design, as JSON-ready data.

    Below 20 units that count, the normal model is a guess, so the rule itself is simulated. Raises UsageError,
    InputError or MissingInput.
    """
    from stages.stats import (
        best_repeats,
        detectable,
        effective_units,
        headroom,
        items_needed,
        measured,
        repeats_needed,
        sig6,
    )
    from stages.stats.mde import SIMULATE_BELOW

    if options.cost_ratio is not None:
        real("--cost-ratio", options.cost_ratio, 0, 1e6)
    if options.figure is not None:
        _check_figure(options.figure)
    asked, pilot = ask(root, sizes, repeats, clusters, look), None
    if options.pilot is not None:
        if options.rate is not None or options.icc is not None:
            raise UsageError("--pilot", "beside --rate or --icc", "one or the other: a pilot says both")
        pilot = read_pilot(options.pilot)
    population = population_of(asked, options, pilot)
    scheme, k, sd = scheme_of(asked), asked.protocol.trial_budget, population.cluster_sd
    spread = headroom(population.p, population.icc)
    if pilot is not None:
        spread = measured(pilot.tau_squared, pilot.omega_squared or 0.0, f"the pilot's {pilot.items} items")
    mde = detectable(scheme, k, spread, sd)
    simulated = not asked.cannot and effective_units(scheme) < SIMULATE_BELOW
    effects = _effects(options.effects, scheme, mde, population, simulated)
    if simulated:
        found = _simulated(setup_of(asked, population, 0), effects, say)
        curve, reached = [(row["effect"], row["power"]) for row in found], None
    elif asked.cannot:
        found, curve, reached = _never(effects), [(0.0, 0.0), (max(effects), 0.0)], None
    else:
        found, curve, reached = _modelled(asked, scheme, spread, sd, effects, mde, population)
    for row in found:
        items = items_needed(scheme, k, row["effect"], spread, sd)
        more = repeats_needed(scheme, row["effect"], spread, sd)
        row["above_minimum"] = scheme.margin is not None or abs(row["effect"]) > scheme.minimum
        row |= {"items_needed": items.count, "items_why": items.why}
        row |= {"repeats_needed": more.count, "repeats_why": more.why}
        if options.cost_ratio is not None:
            row["best_repeats"] = best_repeats(row["effect"], spread, options.cost_ratio)
    how = "normal model of the whole publish rule"
    if simulated:
        how = f"simulated, {PLAN_DATASETS} data sets an effect through the publish rule"
    elif asked.cannot:
        how = "none, since this design can't publish"
    return {
        "design": described(asked, scheme, sd),
        "cannot_publish": asked.cannot,
        "model": {
            "spread": spread.model + (f", clusters' effects of sd {sd:g}" if sd else ""),
            "power": how,
            "detectable": "closed form with the guard's inflation"
            + (", a guess for so few units" if simulated else ""),
        },
        "simulated": simulated,
        "mde80": mde,
        "mde80_by_power": reached,
        "mde80_freeze": _as_frozen(asked, scheme),
        "effects": found,
        "curve": [{"effect": sig6(e), "power": p} for e, p in curve],
        "pilot": None if pilot is None else _pilot(pilot, scheme, k, sd),
    }


def draw_figure(plan: dict[str, Any], path: Path) -> None:
    """Write the plan's power curve as SVG. Raises UsageError where it can't be written."""
    from stages.render.figure import power_spec, svg

    try:
        replace_bytes(path, svg(power_spec(plan)).encode())
    except OSError as error:
        raise UsageError("--figure", f"{path} can't be written ({error.strerror})", "a place for it") from None


def _check_figure(path: Path) -> None:
    """Refuse a picture that can't be drawn before any work is done for it."""
    if path.suffix.lower() != ".svg":
        raise UsageError("--figure", path, "a name that ends in .svg")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError("--figure", f"{path}: no place for a file", "a file in a folder that is there")


def _effects(
    asked: Sequence[float], scheme: Scheme, mde: float | None, population: Population, simulated: bool
) -> list[float]:
    """The effects that were asked for, or the registered minimum, the detectable one, a few between, and one beyond."""
    if asked:
        for effect in asked:
            drawable(population, effect, simulated)
        return sorted(set(asked))
    base = 0.0 if scheme.margin is None else -scheme.margin
    most = 0.9 * (1 - population.p - base)
    while simulated and not _can_draw(population, base + most):
        most *= 0.9
    low, high = sorted((min(scheme.margin or scheme.minimum, most), min(mde or most, most)))
    chosen = {*(low + (high - low) * step / 3 for step in range(4)), min(1.5 * high, most)}
    return sorted({round(base + effect, 3) for effect in chosen if effect > 0})


def _can_draw(population: Population, effect: float) -> bool:
    try:
        population.reach(effect)
    except ValueError:
        return False
    return True


def _modelled(
    asked: Asked,
    scheme: Scheme,
    spread: Spread,
    sd: float,
    effects: list[float],
    mde: float | None,
    population: Population,
) -> tuple[list[dict[str, Any]], list[tuple[float, float]], float | None]:
    """(a row per effect, curve of the power, effect at which it is 80 %), by the normal model of the rule."""
    from stages.stats import power, sig6

    k = asked.protocol.trial_budget
    base = 0.0 if scheme.margin is None else -scheme.margin
    reach = [1.5 * (mde or 0.5), 1.5 * (scheme.margin or scheme.minimum), *(abs(e - base) for e in effects)]
    top = min(max(reach), 1 - population.p - base)
    grid = [base + top * step / CURVE for step in range(CURVE + 1)]
    made = power(scheme, k, [*effects, *grid], spread, sd)
    rows = [
        {
            "effect": sig6(effect),
            "power": sig6(one.published),
            "power_error": None,
            "wrong_direction": sig6(one.wrong),
            "exaggeration": None if one.exaggeration is None else sig6(one.exaggeration),
        }
        for effect, one in zip(effects, made, strict=False)
    ]
    curve = list(zip(grid, (one.published for one in made[len(effects) :]), strict=True))
    for (low, below), (high, above) in itertools.pairwise(curve):
        if below < 0.8 <= above:
            return rows, curve, sig6(low + (high - low) * (0.8 - below) / (above - below) - base)
    return rows, curve, None


def _never(effects: list[float]) -> list[dict[str, Any]]:
    """A row per effect of a design that can't publish."""
    row = {"power": 0.0, "power_error": None, "wrong_direction": 0.0, "exaggeration": None}
    return [{"effect": effect, **row} for effect in effects]


def _simulated(setup: Setup, effects: list[float], say: Say) -> list[dict[str, Any]]:
    """A row per effect, by the rule itself on simulated data."""
    from stages.gate.calibrate import run_calibration
    from stages.render import progress
    from stages.stats import sig6

    with progress("data sets", say) as tick:
        made = run_calibration(
            setup,
            effects,
            PLAN_DATASETS,
            workers_of("auto"),
            lambda done, planned: tick(done, planned, "", "completed"),
        )
    return [
        {
            "effect": sig6(effect),
            "power": sig6(one.published.value),
            "power_error": sig6(one.published.error),
            "wrong_direction": sig6(one.wrong.value),
            "exaggeration": None if one.exaggeration is None else sig6(one.exaggeration.value),
        }
        for effect, one in zip(effects, made, strict=True)
    ]


def _as_frozen(asked: Asked, scheme: Scheme) -> float | None:
    """The MDE80 that freeze puts into the manifest of such a study: its first look, items as units, its own model."""
    from stages.stats import alpha_spent, mde80

    protocol = asked.protocol
    sizes = summary_sizes(protocol, asked.sizes)
    alpha = alpha_spent(protocol.alpha, 1, protocol.family)
    return mde80(list(sizes.values()), [scheme.weights[name] for name in sizes], protocol.trial_budget, alpha)


def _pilot(pilot: Pilot, scheme: Scheme, k: int, sd: float) -> dict[str, Any]:
    """The estimates, and what the detectable effect would be at both ends of the sd's interval."""
    from stages.stats import detectable, measured

    ends = {}
    for name, bound in (("mde80_lo", pilot.sd_lo), ("mde80_hi", pilot.sd_hi)):
        factor = (bound / pilot.sd) ** 2
        spread = measured(factor * pilot.tau_squared, factor * (pilot.omega_squared or 0.0), "the pilot")
        ends[name] = detectable(scheme, k, spread, sd)
    return {**asdict(pilot), **ends}
