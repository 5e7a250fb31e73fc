"""`weighbridge plan`: what a study can find before it is run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages.contract import limits
from stages.contract.errors import UsageError
from stages.contract.files import replace_bytes
from stages.evidence.assumed import (
    NEAR,
    UNKNOWN,
    Aim,
    Options,
    Say,
    aim_of,
    can_draw,
    described,
    drawable,
    items_of,
    repeats_of,
    setup_of,
    simulated,
    smallest_of,
    workers_of,
)
from stages.evidence.designs import Asked, ask, names_of, real, whole
from stages.evidence.pilots import read_pilot

if TYPE_CHECKING:
    from stages.gate.calibrate import Setup
    from stages.stats import Needed, Pilot

PLAN_DATASETS = 400  # where the model is no good: known to 2.5 points at a power of one half
MOST_PLAN_DATASETS = 100_000
CURVE = 48
FACTORS, REPEATS = (0.5, 1, 2, 4), (1, 3, 5, 10)


def plan_study(
    root: Path,
    sizes: Sequence[str],
    repeats: int | None,
    cluster_size: int | None,
    look: int | None,
    options: Options,
    say: Say,
) -> dict[str, Any]:
    """Smallest effect, power, exaggeration, items and repeats of a design, as JSON-ready data.

    All from the power of the whole rule: by the normal model, or simulated where that is a guess (`simulate_why`).
    Raises UsageError, InputError or MissingInput.
    """
    from stages.stats import detectable

    _check(options)
    asked, pilot = ask(root, sizes, repeats, cluster_size, look), None
    if options.pilot is not None:
        if options.rate is not None or options.icc is not None:
            raise UsageError("--pilot", "beside --rate or --icc", "one or the other: a pilot says both")
        pilot = read_pilot(options.pilot)
    aim = aim_of(asked, options, pilot, say)
    scheme, sd, closed = aim.scheme, aim.population.cluster_sd, None
    if aim.scheme.units > len(aim.scheme.weights):
        closed = detectable(scheme, aim.k, aim.spread, sd)
    if aim.population.cluster_sd:  # effects of clusters have most room where the arms are alike
        drawable(aim.population, 0.0)
    for effect in options.effects:
        drawable(aim.population, effect, False)
    smallest = smallest_of(aim)
    effects = _effects(options.effects, aim, smallest.effect)
    why = None if asked.cannot else aim.guess(scheme, aim.k, effects)
    if why is not None:
        for effect in effects:
            drawable(aim.population, effect)
        found = _simulated(setup_of(asked, aim.population, options.seed), effects, options, say)
        curve = [(row["effect"], row["power"]) for row in found]
    elif asked.cannot:
        found, curve = _never(effects), [(0.0, 0.0), (max(effects), 0.0)]
    else:
        found, curve = _modelled(aim, effects, smallest.effect)
    for row in found:
        row["above_minimum"] = scheme.margin is not None or abs(row["effect"]) > scheme.minimum
        row |= _needs(aim, row, options.cost_ratio)
    how = "normal model of the whole publish rule"
    if why is not None:
        how = f"simulated, {options.datasets:,} data sets an effect through the publish rule, because {why}"
    elif asked.cannot:
        how = "none, since this design can't publish"
    freeze = _as_frozen(asked)
    return {
        "design": described(asked, scheme, sd),
        "cannot_publish": asked.cannot,
        "model": {
            "spread": aim.spread.model + (f", clusters' effects of sd {sd:g}" if sd else ""),
            "power": how,
            "needed": "normal model of the whole publish rule, or simulation where that is a guess",
        },
        "simulated": why is not None,
        "simulated_why": why,
        "datasets": options.datasets if why is not None else None,
        "target_power": aim.target,
        "largest_effect": _six(aim.top),
        "control_rate": _six(aim.population.p),
        "mde": smallest.effect,
        "mde_why": smallest.why,
        "mde80_closed_form": closed,
        "mde80_freeze": freeze,
        "mde80_freeze_possible": None if freeze is None else freeze <= aim.top,
        "effects": found,
        "grid": _grid(aim, found[0]["effect"]) if options.grid else None,
        "curve": [{"effect": _six(e), "power": p} for e, p in curve],
        "pilot": None if pilot is None else _pilot(pilot, aim),
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


def _check(options: Options) -> None:
    """Refuse options that can't be before any work is done for them."""
    if options.cost_ratio is not None:
        real("--cost-ratio", options.cost_ratio, 0, 1e6)
    workers_of(options.workers)
    real("--power", options.power, 0.5, 0.99)
    whole("--datasets", options.datasets, 10, MOST_PLAN_DATASETS)
    if options.figure is not None:
        _check_figure(options.figure)


def _six(value: float) -> float:
    from stages.stats import sig6

    return sig6(value)


def _effects(chosen: Sequence[float], aim: Aim, mde: float | None) -> list[float]:
    """The effects that were asked for, or the registered minimum, the smallest published, some between, one beyond."""
    scheme, population = aim.scheme, aim.population
    if chosen:
        return sorted(set(chosen))
    # Short of the end, where clusters' own effects have no room.
    shares = (0.9**step for step in range(1, 60))
    most = next((aim.top * share for share in shares if can_draw(population, aim.base + aim.top * share)), -aim.base)
    low, high = sorted((min(scheme.margin or scheme.minimum, most), min(mde or most, most)))
    middle = [low + (high - low) * step / 3 for step in (1, 2)]
    if aim.asked.cannot or aim.guess(scheme, aim.k, [aim.base + low]):
        middle = []  # what is simulated takes its time
    wanted = [low, *middle, high, min(1.5 * high, most)]
    # Rounded up, so that what an effect needs is what its figures say.
    return sorted({_up(aim.base + effect) for effect in wanted if effect > 0})


def _up(effect: float) -> float:
    return math.ceil(round(effect * 1000, 6)) / 1000


def _needs(aim: Aim, row: dict[str, Any], cost_ratio: float | None) -> dict[str, Any]:
    """Items and repeats that publish an effect often enough, with their trials; the best repeats for a cost ratio."""
    from stages.stats import Needed

    effect = row["effect"]
    if row["power_error"] is not None and row["above_minimum"] and abs(row["power"] - aim.target) <= NEAR:
        # The design as it is was just simulated, and is what a search by simulation would take.
        items, repeats = Needed(aim.scheme.items, None, aim.scheme), Needed(aim.k, None, aim.scheme)
    else:
        items, repeats = items_of(aim, aim.k, effect), repeats_of(aim, effect)
    made = {
        "items_needed": items.count,
        "items_why": items.why,
        "items_by_stratum": _by_label(aim, items),
        "items_trials": items.count and 2 * items.count * aim.k,
        "repeats_needed": repeats.count,
        "repeats_why": repeats.why,
        "repeats_trials": repeats.count and 2 * aim.scheme.items * repeats.count,
    }
    return made if cost_ratio is None else made | _best(aim, effect, cost_ratio)


def _by_label(aim: Aim, needed: Needed) -> dict[str, int] | None:
    if needed.scheme is None:
        return None
    return {name: label.items for name, label in zip(names_of(aim.asked), needed.scheme.labels, strict=True)}


def _best(aim: Aim, effect: float, cost_ratio: float) -> dict[str, Any]:
    """The repeats that a budget buys best, the items that go with them, and what both cost, in trials.

    Chosen by the normal model, in steps of a quarter at most, up to `best_repeats` or to twice what is best so far.
    """
    from stages.stats import Needed, best_repeats, items_needed, repeats_needed
    from stages.stats.planner import scaled

    def cost(k: int, items: int) -> float:
        return items * (cost_ratio + 2 * k)

    made, best = Needed(None, UNKNOWN if aim.repeats_unknown else None), 1
    if not aim.repeats_unknown:
        most = best_repeats(effect, aim.spread, cost_ratio)
        if most is None:  # items don't differ: as few as the floors allow
            most = repeats_needed(scaled(aim.scheme, 1), effect, aim.normal, aim.target).count or 1
        most, k = min(most, limits.MAX_TRIAL_BUDGET), 1
        tried: list[tuple[float, int]] = []
        while k <= most and (not tried or k <= 2 * min(tried)[1] + 2):
            found = items_needed(aim.scheme, k, effect, aim.normal, aim.target)
            if found.count is not None:
                tried.append((cost(k, found.count), k))
            k += max(1, k // 4)
        best = min(tried)[1] if tried else 1
        made = items_of(aim, best, effect)
    return {
        "best_repeats": made.count and best,
        "best_why": made.why,
        "best_items": made.count,
        "best_trials": made.count and 2 * made.count * best,
        "best_cost": made.count and _six(cost(best, made.count)),
    }


def _grid(aim: Aim, effect: float) -> dict[str, Any]:
    """Power by items and repeats at one effect, by the normal model."""
    from stages.stats.planner import scaled

    schemes = {}
    for factor in FACTORS:
        made = scaled(aim.scheme, math.ceil(factor * aim.scheme.items))
        schemes[made.items] = made
    repeats = (aim.k,) if aim.repeats_unknown else REPEATS
    guess = any(aim.guess(scheme, k, [effect]) for scheme in schemes.values() for k in repeats)
    return {
        "effect": effect,
        "repeats": list(repeats),
        "rows": [
            {
                "items": items,
                "power": [_six(aim.normal(scheme, k, [effect])[0]) for k in repeats],
                "trials": [2 * items * k for k in repeats],
            }
            for items, scheme in sorted(schemes.items())
        ],
        "model": "normal model of the whole publish rule" + (", a guess where few units differ" if guess else ""),
    }


def _modelled(
    aim: Aim, effects: list[float], mde: float | None
) -> tuple[list[dict[str, Any]], list[tuple[float, float]]]:
    """(a row per effect, curve of the power), by the normal model of the rule."""
    from stages.stats import power

    reach = [1.5 * (mde or aim.top), 1.5 * (aim.scheme.margin or aim.scheme.minimum)]
    top = min(max(*reach, *(abs(e - aim.base) for e in effects)), aim.top)
    grid = [aim.base + top * step / CURVE for step in range(CURVE + 1)]
    made = power(aim.scheme, aim.k, [*effects, *grid], aim.spread, aim.population.cluster_sd)
    rows = [
        _row(effect, one.published, None, one.wrong, one.exaggeration, one.alone)
        for effect, one in zip(effects, made, strict=False)
    ]
    return rows, list(zip(grid, (one.published for one in made[len(effects) :]), strict=True))


def _row(
    effect: float,
    published: float,
    error: float | None,
    wrong: float | None,
    exaggeration: float | None,
    alone: dict[str, float],
) -> dict[str, Any]:
    """What is known of one effect. Where there is none there is no wrong direction."""
    cost = max(alone, key=lambda reason: (alone[reason], reason), default=None)
    return {
        "effect": _six(effect),
        "power": _six(published),
        "power_error": None if error is None else _six(error),
        "wrong_direction": None if wrong is None or not effect else _six(wrong),
        "exaggeration": None if exaggeration is None else _six(exaggeration),
        "alone": {reason: _six(share) for reason, share in sorted(alone.items())},
        "costliest": cost if cost is not None and alone[cost] >= 0.001 else None,
    }


def _never(effects: list[float]) -> list[dict[str, Any]]:
    """A row per effect of a design that can't publish."""
    return [_row(effect, 0.0, None, 0.0, None, {}) for effect in effects]


def _simulated(setup: Setup, effects: list[float], options: Options, say: Say) -> list[dict[str, Any]]:
    """A row per effect, by the rule itself on simulated data."""
    return [
        _row(
            effect,
            one.published.value,
            one.published.error,
            one.wrong.value,
            one.exaggeration.value if one.exaggeration else None,
            {reason: share.value for reason, share in one.alone.items()},
        )
        for effect, one in zip(effects, simulated(setup, effects, options, say), strict=True)
    ]


def _as_frozen(asked: Asked) -> float | None:
    """The MDE80 that freeze puts into the manifest of such a study: of its first look, by its own model."""
    from stages.gate import planned_mde80
    from stages.stats import alpha_spent

    protocol = asked.protocol
    labels = zip(asked.items.strata, asked.items.clusters, strict=True)
    return planned_mde80(protocol, labels, alpha_spent(protocol.alpha, 1, protocol.family))


def _pilot(pilot: Pilot, aim: Aim) -> dict[str, Any]:
    """The estimates, and what the smallest effect would be at both ends of the sd's interval, by the normal model."""
    from stages.stats import measured
    from stages.stats.planner import by_normal_model, smallest_effect

    ends = {}
    for name, bound in (("mde_lo", pilot.sd_lo), ("mde_hi", pilot.sd_hi)):
        factor = (bound / pilot.sd) ** 2
        spread = measured(factor * pilot.tau_squared, factor * (pilot.omega_squared or 0.0), "the pilot")
        chance = by_normal_model(spread, aim.population.cluster_sd)
        found = None if aim.asked.cannot else smallest_effect(aim.scheme, aim.k, chance, aim.top, aim.target)
        ends[name] = found and found.effect
    return {**asdict(pilot), **ends}
