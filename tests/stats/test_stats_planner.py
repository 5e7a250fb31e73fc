"""The planner: closed forms by hand, power against noncentral t, published figures, pilots."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from stages import stats
from stages.stats import (
    Label,
    Population,
    Scheme,
    Spread,
    closed_form,
    dataset_rng,
    draw,
    headroom,
    layout_of,
    measured,
)
from stages.stats.planner import by_normal_model, discordant_units, scaled, shifted, simulate_why, smallest_effect

ALPHA = Fraction(1, 20)


def scheme(
    sizes: dict[str, int],
    weights: dict[str, Fraction] | None = None,
    *,
    alpha: Fraction = ALPHA,
    minimum: float = 0.05,
    margin: float | None = None,
    cluster: int = 1,
) -> Scheme:
    labels = tuple(Label(name, n, -(-n // cluster), float(cluster)) for name, n in sizes.items())
    return Scheme(labels, weights or {s: Fraction(1, len(sizes)) for s in sizes}, alpha, minimum, margin)


# --- closed forms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n"), [(1, 241), (3, 84), (5, 52), (10, 29)])
def test_ten_points_are_detected_by_241_84_52_29_items_of_1_3_5_10_repeats(k: int, n: int) -> None:
    enough, short = (stats.detectable(scheme({"a": m}), k, closed_form(), guard=False) for m in (n, n - 1))
    assert enough is not None
    assert short is not None
    assert enough <= 0.1 < short


def test_the_guard_asks_for_a_larger_effect() -> None:
    for k in (1, 3, 5, 10):
        plain, guarded = (stats.detectable(scheme({"a": 80}), k, closed_form(), guard=guard) for guard in (False, True))
        assert plain is not None
        assert guarded is not None
        assert plain < guarded < 1.1 * plain


@pytest.mark.parametrize("sizes", [{"a": 36}, {"a": 20, "b": 50}, {"a": 7, "b": 9, "c": 90}])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_the_detectable_effect_is_that_which_freeze_records(sizes: dict[str, int], k: int) -> None:
    expected = stats.mde80(list(sizes.values()), [Fraction(1, len(sizes))] * len(sizes), k, ALPHA)
    assert stats.detectable(scheme(sizes), k, closed_form()) == expected


def test_thirty_six_items_of_three_repeats_detect_sixteen_points() -> None:
    assert stats.detectable(scheme({"a": 36}), 3, closed_form(), guard=False) == pytest.approx(0.16, abs=0.005)


def test_the_detectable_effect_solves_its_equation_for_headroom_too() -> None:
    k, spread = 4, headroom(0.3, 0.2)
    found = stats.detectable(scheme({"a": 60, "b": 25}), k, spread, guard=False)
    assert found is not None
    tau, noise = spread.moments(found)
    parts = [(tau + noise / k) / n / 4 for n in (60, 25)]
    df = (1 / 60 + 1 / 25) ** 2 / ((1 / 60) ** 2 / 59 + (1 / 25) ** 2 / 24)
    t = scipy.stats.t.ppf(0.975, df) + scipy.stats.t.ppf(0.8, df)
    assert found == pytest.approx(t * math.sqrt(sum(parts)), rel=1e-5)


ELEVEN = dict(zip("abcdefghijk", (36, 76, 41, 69, 50, 57, 64, 42, 50, 60, 17), strict=True))
MODEL = by_normal_model(closed_form())


@pytest.mark.parametrize(
    ("sizes", "k", "effect", "spread", "target"),
    [
        (ELEVEN, 1, 0.1, headroom(0.3, 0.7), 0.8),  # agreement of eleven strata costs more than half of the items
        ({"a": 30, "b": 60}, 3, 0.12, closed_form(), 0.8),
        ({"a": 30, "b": 60}, 3, -0.12, headroom(0.4, 0.2), 0.9),
        ({"a": 60}, 2, 0.055, headroom(0.5, 0.0), 0.6),  # the registered minimum costs most
    ],
)
def test_the_items_needed_are_the_fewest_that_are_published_often_enough(
    sizes: dict[str, int], k: int, effect: float, spread: Spread, target: float
) -> None:
    made, model = scheme(sizes), by_normal_model(spread)
    needed = stats.items_needed(made, k, effect, model, target)
    assert needed.count is not None
    assert needed.scheme is not None
    assert needed.count == needed.scheme.items
    assert target <= model(needed.scheme, k, [effect])[0] < target + 0.02
    assert model(scaled(made, int(0.97 * needed.count) - len(sizes)), k, [effect])[0] < target


def test_the_items_of_many_strata_are_more_than_twice_those_of_detection() -> None:
    needed = stats.items_needed(scheme(ELEVEN, alpha=Fraction(1, 25)), 1, 0.1, by_normal_model(headroom(0.3, 0.7)))
    assert needed.count is not None
    assert needed.count > 2 * 210  # what the closed form asks for


def test_a_design_of_another_size_keeps_its_shares_and_its_floors() -> None:
    made = replace(scheme({"a": 10, "b": 90}, cluster=3), stratum_floor=5, floor=20, proportional=True)
    assert [t.items for t in scaled(made, 200).labels] == [20, 180]
    assert [t.units for t in scaled(made, 200).labels] == [8, 60]
    small = scaled(made, 1)
    assert [t.items for t in small.labels] == [5, 18]  # floors of the whole and of the stratum
    assert small.weights == {"a": Fraction(5, 23), "b": Fraction(18, 23)}
    assert min(t.units for t in scaled(scheme({"a": 12}, cluster=6), 1).labels) == 2


def test_the_repeats_needed_are_the_fewest_and_make_up_for_items_only_so_far() -> None:
    """By hand: with endless repeats n items detect an effect if (t + t) tau < sqrt(n), tau = .6 of the effect."""
    for n in (60, 84, 120):
        found = stats.repeats_needed(scheme({"a": n}), 0.1, MODEL)
        assert found.count is not None
        enough, short = (MODEL(scheme({"a": n}), k, [0.1])[0] for k in (found.count, found.count - 1))
        assert short < 0.8 <= enough
    for n in (4, 5, 7, 12):
        t = scipy.stats.t.ppf(0.975, n - 1) + scipy.stats.t.ppf(0.8, n - 1)
        found = stats.repeats_needed(scheme({"a": n}), 0.4, MODEL)
        assert ("no number" in str(found.why)) is bool(1.03 * 0.6 * t > math.sqrt(n))
        assert (found.why is None) is (found.count is not None)


def test_where_no_number_will_do_there_is_a_reason() -> None:
    pilot = by_normal_model(measured(0.04, 0.2, "a pilot"))
    assert "no number of repeats" in str(stats.repeats_needed(scheme({"a": 20}), 0.06, pilot).why)
    assert "more than" in str(stats.items_needed(scheme({"a": 20}, minimum=0), 1, 0.0005, pilot).why)
    for effect in (0.05, -0.05, 0.01):
        assert "not above the registered minimum" in str(stats.items_needed(scheme({"a": 20}), 1, effect, pilot).why)
        assert "not above the registered minimum" in str(stats.repeats_needed(scheme({"a": 20}), effect, pilot).why)
    assert "nothing to find" in str(stats.items_needed(scheme({"a": 20}), 1, 0.0, pilot).why)
    assert "nothing to show" in str(stats.repeats_needed(scheme({"a": 20}, margin=0.1), -0.1, pilot).why)
    assert "single unit" in str(stats.repeats_needed(scheme({"a": 1, "b": 30}), 0.1, pilot).why)
    assert stats.detectable(scheme({"a": 1}), 3, measured(0.04, 0.2, "a pilot")) is None
    assert stats.detectable(scheme({"a": 3}), 1, closed_form()) is None


def test_the_smallest_effect_is_where_power_reaches_the_target_on_the_whole_way_there_is() -> None:
    made, model = scheme(ELEVEN), by_normal_model(headroom(0.3, 0.7))
    closed = stats.detectable(made, 1, headroom(0.3, 0.7))
    for target in (0.5, 0.8, 0.97):
        found = smallest_effect(made, 1, model, 0.7, target).effect
        assert found is not None
        assert model(made, 1, [found])[0] == pytest.approx(target, abs=0.002)
    assert closed is not None
    assert found > 1.9 * closed
    none = smallest_effect(made, 1, model, 0.05)
    assert none.effect is None
    assert "at most" in str(none.why)


def test_a_model_that_errs_is_asked_for_more_or_less() -> None:
    assert shifted(0.8, 0.7, 0.7) == pytest.approx(0.8)
    # By tables: scores of .8413, .5 and .6915 are 1, 0 and .5.
    assert shifted(0.841345, 0.5, 0.691462) == pytest.approx(scipy.stats.norm.cdf(1.5), abs=1e-4)
    assert shifted(0.8, 0.6, 0.5) < 0.8 < shifted(0.8, 0.5, 0.6)
    assert 0 < shifted(0.8, 1.0, 0.0) < shifted(0.8, 0.0, 1.0) < 1


@pytest.mark.parametrize("ratio", [0.0, 0.5, 3.0, 40.0, 1000.0])
@pytest.mark.parametrize("effect", [0.05, 0.2])
def test_the_best_repeats_have_the_least_error_for_the_money(ratio: float, effect: float) -> None:
    spread = closed_form()
    found = stats.best_repeats(effect, spread, ratio)
    tau, noise = (0.6 * effect) ** 2, 0.3
    costs = [(ratio + 2 * k) * (tau + noise / k) for k in range(1, 2000)]
    assert found == 1 + int(np.argmin(costs))
    assert abs(found - max(1.0, math.sqrt(noise * ratio / (2 * tau)))) < 1


def test_without_differences_between_items_there_is_no_best_number_of_repeats() -> None:
    assert stats.best_repeats(0.1, measured(0.0, 0.2, "a pilot"), 5) is None
    with pytest.raises(ValueError):
        stats.best_repeats(0.1, closed_form(), -1)


# --- the normal model -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [20, 50, 150])
@pytest.mark.parametrize("delta", [0.0, 0.1, 0.2])
def test_one_stratum_has_the_power_of_noncentral_t(n: int, delta: float) -> None:
    k, spread = 3, measured(0.01, 0.3, "a pilot")
    (found,) = stats.power(scheme({"a": n}, minimum=0.0), k, [delta], spread)
    shift, df = delta / math.sqrt((0.01 + 0.1) / n), n - 1
    t = scipy.stats.t.ppf(0.975, df)
    critical = t + (stats.guard_inflation(n, k) - 1) * (t + scipy.stats.t.ppf(0.8, df))
    law = scipy.stats.nct(df, shift) if delta else scipy.stats.t(df)
    assert found.published == pytest.approx(law.sf(critical) + law.cdf(-critical), abs=0.01)
    assert found.alone["sign_flip_not_significant"] == pytest.approx(
        law.cdf(critical) - law.cdf(t) + (law.cdf(-t) - law.cdf(-critical)), abs=0.006
    )


def test_noninferiority_has_the_power_of_a_shifted_noncentral_t() -> None:
    n, k = 80, 2
    (equal,) = stats.power(scheme({"a": n}, margin=0.1), k, [0.0], measured(0.0, 0.3, "a pilot"))
    df = n - 1
    t = scipy.stats.t.ppf(0.975, df)
    critical = t + (stats.guard_inflation(n, k) - 1) * (t + scipy.stats.t.ppf(0.8, df))
    assert equal.published == pytest.approx(scipy.stats.nct(df, 0.1 / math.sqrt(0.15 / n)).sf(critical), abs=0.01)
    assert equal.exaggeration is None


def test_five_points_at_36_items_are_published_one_time_in_ten_and_28_times_too_large() -> None:
    (found,) = stats.power(scheme({"a": 36}, alpha=stats.alpha_spent(ALPHA, 1, 1)), 3, [0.05], headroom(0.5, 0.4))
    assert found.published == pytest.approx(0.10, abs=0.01)
    assert found.exaggeration == pytest.approx(2.8, abs=0.1)


def test_opposite_strata_are_published_8_percent_of_the_time() -> None:
    weights = {"migration": Fraction(1, 11), "repair": Fraction(10, 11)}
    made = scheme({"migration": 10, "repair": 100}, weights)
    (found,) = stats.power(made, 3, [{0: -0.2, 1: 0.2}], headroom(0.5, 0.4))
    assert found.published == pytest.approx(0.08, abs=0.015)
    assert found.effect == pytest.approx((100 * 0.2 - 10 * 0.2) / 110)


def test_a_common_effect_pays_0_to_3_points_for_agreement_of_two_equal_strata() -> None:
    for effect in (0.05, 0.1, 0.15, 0.2):
        (found,) = stats.power(scheme({"a": 50, "b": 50}), 3, [effect], headroom(0.5, 0.4))
        assert 0 <= found.alone["strata_disagree"] <= 0.03


def test_small_effects_are_below_the_registered_minimum() -> None:
    small, large = (
        stats.power(scheme({"a": 4000}, minimum=minimum), 5, [0.04], headroom(0.5, 0.4))[0] for minimum in (0.1, 0.0)
    )
    assert small.published == 0
    assert small.alone["below_minimum_detectable_effect"] == pytest.approx(large.published, abs=0.001)


def test_labels_merged_into_one_stratum_are_one_stratum() -> None:
    labels = (Label("a", 30, 30), Label("a", 50, 50))
    merged = Scheme(labels, {"a": Fraction(1)}, ALPHA, 0.05)
    (one,) = stats.power(merged, 3, [0.13], headroom(0.5, 0.4))
    (other,) = stats.power(scheme({"a": 80}), 3, [0.13], headroom(0.5, 0.4))
    assert one.published + one.alone["strata_disagree"] == pytest.approx(other.published, abs=0.012)
    (apart,) = stats.power(merged, 3, [{0: 0.33, 1: 0.01}], headroom(0.5, 0.4))
    assert apart.published < one.published


def test_clusters_cost_power_by_their_design_effect() -> None:
    (alone,) = stats.power(scheme({"a": 150}), 3, [0.1], headroom(0.5, 0.4))
    (clustered,) = stats.power(scheme({"a": 150}, cluster=5), 3, [0.1], headroom(0.5, 0.4), 0.2)
    assert clustered.published < alone.published
    made = stats.detectable(scheme({"a": 150}, cluster=5), 3, measured(0.0, 0.3, "a pilot"), 0.2, guard=False)
    t = scipy.stats.t.ppf(0.975, 29) + scipy.stats.t.ppf(0.8, 29)
    assert made == pytest.approx(t * math.sqrt((0.1 + 5 * 0.04) / 150), rel=1e-5)


def test_few_units_of_large_weight_count_as_few() -> None:
    assert stats.effective_units(scheme({"a": 20})) == 20
    assert stats.effective_units(scheme({"a": 13, "b": 13, "c": 13})) == 39
    assert stats.effective_units(scheme({"a": 5, "b": 45, "c": 100})) < 10
    assert stats.effective_units(scheme({"a": 1, "b": 45})) == 0
    with pytest.raises(ValueError, match="single unit"):
        stats.power(scheme({"a": 1, "b": 45}), 3, [0.1], headroom(0.5, 0.4))


def test_figures_are_the_same_in_every_process() -> None:
    code = (
        "from fractions import Fraction as F\nfrom stages import stats\n"
        "s = stats.Scheme((stats.Label('a', 30, 30), stats.Label('b', 20, 20)), {'a': F(1, 2), 'b': F(1, 2)}, F(1, 25), .05)\n"
        "print(stats.power(s, 3, [0.0, .1, {0: .2, 1: .0}], stats.headroom(.5, .4)))\n"
    )
    root = Path(str(stats.__file__)).parents[2]
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@pytest.mark.parametrize("p", [1e-9, 0.02, 0.5, 0.98, 1 - 1e-9])
@pytest.mark.parametrize("icc", [0.0, 1e-6, 0.4, 1.0])
@pytest.mark.parametrize("labels", [{"a": 60}, {"a": 2, "b": 58}])
def test_nothing_is_divided_by_nothing(p: float, icc: float, labels: dict[str, int]) -> None:
    effects = [share * room for room in (1 - p, -p) for share in (0.0, 0.1, 0.5, 1.0)]
    merged = Scheme(
        (Label("a", 1, 1), Label("a", 1, 1), Label("b", 9, 3, 3.0)),
        {"a": Fraction(1, 2), "b": Fraction(1, 2)},
        ALPHA,
        0.0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for made in (scheme(labels), merged):
            for k in (1, 3, 1e12):
                for found in stats.power(made, k, effects, headroom(p, icc)):
                    assert 0 <= found.published <= 1
            stats.items_needed(scheme(labels), 3, effects[2], by_normal_model(headroom(p, icc)))
            stats.repeats_needed(scheme(labels), effects[2], by_normal_model(headroom(p, icc)))
            smallest_effect(scheme(labels), 3, by_normal_model(headroom(p, icc)), 1 - p)


def test_items_that_cant_differ_are_never_published() -> None:
    (found,) = stats.power(scheme({"a": 60}, minimum=0.0), 3, [0.0], headroom(0.5, 1.0))
    assert (found.published, found.alone) == (0, {"no_variance": 1})


def test_units_that_are_expected_to_differ_by_hand() -> None:
    def differ(made: Scheme, k: int, effect: float, p: float, icc: float) -> float:
        return discordant_units(made, k, effect, Population(p=p, icc=icc))

    # All rates .5 and .7: one arm passes alone with .5 * .3 + .5 * .7.
    assert differ(scheme({"a": 40}), 1, 0.2, 0.5, 0.0) == pytest.approx(20)
    # Items pass always or never; of the .9 that the control fails the candidate passes 2/9 of its trials.
    assert differ(scheme({"a": 50, "b": 50}), 1, 0.2, 0.1, 1.0) == pytest.approx(20)
    assert differ(scheme({"a": 100}), 2, 0.2, 0.1, 1.0) == pytest.approx(90 * (1 - (7 / 9) ** 2))
    # Two items to a cluster: one of them differs.
    assert differ(scheme({"a": 40}, cluster=2), 1, 0.2, 0.5, 0.0) == pytest.approx(20 * 0.75)
    drawn = draw(layout_of({"a": 40_000}), 3, -0.1, Population(p=0.8, icc=0.3), dataset_rng(4, 4))
    share = float((drawn.candidate.sum(axis=1) != drawn.control.sum(axis=1)).mean())
    assert differ(scheme({"a": 1000}), 3, -0.1, 0.8, 0.3) == pytest.approx(1000 * share, rel=0.03)


def test_the_model_is_called_a_guess_where_few_units_count_or_differ() -> None:
    assert "only 15 units count" in str(simulate_why(scheme({"a": 15}), 3, [0.1], Population()))
    for sizes, effect, p, icc in (({"a": 25, "b": 25}, 0.08, 0.9, 0.6), ({"a": 40}, 0.2, 0.05, 0.4)):
        assert "expected to differ" in str(simulate_why(scheme(sizes), 1, [effect], Population(p=p, icc=icc)))
    assert simulate_why(scheme({"a": 40}), 3, [0.05, 0.2], Population()) is None


# --- pilots ---------------------------------------------------------------------------------------------------------


def test_a_large_pilot_finds_what_its_items_were_drawn_from() -> None:
    drawn = draw(layout_of({"a": 40_000}), 3, 0.2, Population(), dataset_rng(1, 1))
    pairs = np.full(40_000, 3)
    found = stats.estimate_pilot(drawn.candidate.sum(axis=1), drawn.control.sum(axis=1), pairs)
    tau, noise = headroom(0.5, 0.4).moments(0.2)
    assert found.p == pytest.approx(0.5, abs=0.01)
    assert found.icc == pytest.approx(0.4, abs=0.02)
    assert found.omega_squared == pytest.approx(noise, rel=0.02)
    assert found.tau_squared == pytest.approx(tau, abs=0.004)
    assert found.sd == pytest.approx(math.sqrt(tau + noise / 3), rel=0.02)


def test_a_pilot_by_hand() -> None:
    """Three items of two pairs: rates 1, .5, 0 against .5, .5, 0; differences .5, 0, 0."""
    found = stats.estimate_pilot(np.array([2, 1, 0]), np.array([1, 1, 0]), np.array([2, 2, 2]))
    assert found.p == pytest.approx(1 / 3, abs=1e-6)
    assert found.sd == pytest.approx(math.sqrt(1 / 12), abs=1e-6)
    # 2 p (1 - p) per arm and item: candidate 0, 1/2, 0; control 1/2, 1/2, 0.
    assert found.omega_squared == pytest.approx(1 / 6 + 1 / 3, abs=1e-6)
    assert found.tau_squared == 0  # 1/12 - (1/2) / 2 is negative
    low, high = (math.sqrt(2 * (1 / 12) / scipy.stats.chi2.ppf(q, 2)) for q in (0.975, 0.025))
    assert (found.sd_lo, found.sd_hi) == pytest.approx((low, high), rel=1e-5)
    # control: within 1/3; p (1 - p) + var(rates) / n = 2/9 + (1/12) / 3 = 1/4; 1 - (1/3) / (1/4) is below 0.
    assert found.icc == 0
    assert (found.items, found.repeated) == (3, 3)


def test_a_pilot_of_single_pairs_knows_only_the_total() -> None:
    found = stats.estimate_pilot(np.array([1, 0, 1, 1]), np.array([0, 0, 1, 0]), np.ones(4, dtype=int))
    assert found.omega_squared is None
    assert found.icc is None
    assert found.tau_squared == pytest.approx(found.sd**2, rel=1e-5)
    assert found.repeated == 0


def test_a_pilot_needs_items_and_passes_that_fit() -> None:
    for candidate, control, pairs in (
        ([1], [0], [1]),
        ([2, 0], [0, 0], [1, 1]),
        ([0, 0], [0, 0], [0, 1]),
        ([0], [0, 1], [1, 1]),
    ):
        with pytest.raises(ValueError):
            stats.estimate_pilot(np.array(candidate), np.array(control), np.array(pairs))
