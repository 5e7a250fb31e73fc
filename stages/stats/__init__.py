"""Statistics of paired differences: what is computed, from numbers alone. Knows no file, table or task.

Names are imported on first use, so that importing the package doesn't import scipy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stages.stats.alpha import (
        Asymmetry,
        alpha_look,
        alpha_spent,
        exclusion_asymmetry,
        placebo_bound,
    )
    from stages.stats.fmt import show_p, sig6
    from stages.stats.interval import (
        Interval,
        Moments,
        bootstrap_interval,
        bootstrap_law,
        excludes,
        moments,
        side,
        tail_level,
    )
    from stages.stats.lattice import Law
    from stages.stats.mde import guard_inflation, mde80, mde80_observed
    from stages.stats.montecarlo import multinomial_bootstrap
    from stages.stats.normal import Label, Power, Scheme, Spread, closed_form, headroom, measured, power
    from stages.stats.pilot import Pilot, estimate_pilot
    from stages.stats.planner import Needed, best_repeats, detectable, effective_units, items_needed, repeats_needed
    from stages.stats.signflip import SignFlip, sign_flip
    from stages.stats.simulate import Drawn, Layout, Population, dataset_rng, draw, draw_rates, layout_of
    from stages.stats.units import (
        Design,
        Stratum,
        design,
        linked_strata,
        proportional_weights,
        stratum,
        stratum_from_arrays,
    )

_HOME = {
    "Asymmetry": "alpha",
    "alpha_look": "alpha",
    "alpha_spent": "alpha",
    "exclusion_asymmetry": "alpha",
    "placebo_bound": "alpha",
    "show_p": "fmt",
    "sig6": "fmt",
    "Interval": "interval",
    "Moments": "interval",
    "bootstrap_interval": "interval",
    "bootstrap_law": "interval",
    "excludes": "interval",
    "moments": "interval",
    "side": "interval",
    "tail_level": "interval",
    "Law": "lattice",
    "guard_inflation": "mde",
    "mde80": "mde",
    "mde80_observed": "mde",
    "multinomial_bootstrap": "montecarlo",
    "Label": "normal",
    "Power": "normal",
    "Scheme": "normal",
    "Spread": "normal",
    "closed_form": "normal",
    "headroom": "normal",
    "measured": "normal",
    "power": "normal",
    "Pilot": "pilot",
    "estimate_pilot": "pilot",
    "Needed": "planner",
    "best_repeats": "planner",
    "detectable": "planner",
    "effective_units": "planner",
    "items_needed": "planner",
    "repeats_needed": "planner",
    "Drawn": "simulate",
    "Layout": "simulate",
    "Population": "simulate",
    "dataset_rng": "simulate",
    "draw": "simulate",
    "draw_rates": "simulate",
    "layout_of": "simulate",
    "SignFlip": "signflip",
    "sign_flip": "signflip",
    "Design": "units",
    "Stratum": "units",
    "design": "units",
    "linked_strata": "units",
    "proportional_weights": "units",
    "stratum": "units",
    "stratum_from_arrays": "units",
}
__all__ = [
    "Asymmetry",
    "Design",
    "Drawn",
    "Interval",
    "Label",
    "Law",
    "Layout",
    "Moments",
    "Needed",
    "Pilot",
    "Population",
    "Power",
    "Scheme",
    "SignFlip",
    "Spread",
    "Stratum",
    "alpha_look",
    "alpha_spent",
    "best_repeats",
    "bootstrap_interval",
    "bootstrap_law",
    "closed_form",
    "dataset_rng",
    "design",
    "detectable",
    "draw",
    "draw_rates",
    "effective_units",
    "estimate_pilot",
    "excludes",
    "exclusion_asymmetry",
    "guard_inflation",
    "headroom",
    "items_needed",
    "layout_of",
    "linked_strata",
    "mde80",
    "mde80_observed",
    "measured",
    "moments",
    "multinomial_bootstrap",
    "placebo_bound",
    "power",
    "proportional_weights",
    "repeats_needed",
    "show_p",
    "side",
    "sig6",
    "sign_flip",
    "stratum",
    "stratum_from_arrays",
    "tail_level",
]


def __getattr__(name: str) -> object:
    """Import a public name from the module that it lives in. Raises AttributeError for any other."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
