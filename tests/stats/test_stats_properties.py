"""What holds for any data: mirrored, reordered, scaled, shifted."""

from __future__ import annotations

import random
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from stages import stats

ALPHA = Fraction(1, 20)

values = st.lists(st.fractions(-1, 1, max_denominator=6), min_size=3, max_size=14)
designs = st.lists(values, min_size=1, max_size=3)
quick = settings(max_examples=30, deadline=None, derandomize=True)


def plain(lists: list[list[Fraction]]) -> stats.Interval:
    strata = [stats.stratum(str(i), xs) for i, xs in enumerate(lists)]
    return stats.bootstrap_interval(stats.design(strata), ALPHA)


@quick
@given(designs)
def test_swapping_the_arms_mirrors_the_interval(lists: list[list[Fraction]]) -> None:
    one, other = plain(lists), plain([[-x for x in xs] for xs in lists])
    assert one.kind == other.kind
    assert one.tail_level == other.tail_level
    if one.lo is not None and one.hi is not None:
        assert (other.lo, other.hi) == (-one.hi, -one.lo)


@quick
@given(designs, st.randoms(use_true_random=False))
def test_the_interval_does_not_depend_on_row_order(lists: list[list[Fraction]], rng: random.Random) -> None:
    assert plain(lists) == plain([rng.sample(xs, len(xs)) for xs in lists])


@quick
@given(designs)
def test_the_interval_does_not_depend_on_the_order_of_strata(lists: list[list[Fraction]]) -> None:
    strata = [stats.stratum(str(i), xs) for i, xs in enumerate(lists)]
    forth, back = stats.design(strata), stats.design(reversed(strata))
    assert forth == back
    renamed = stats.design(stats.stratum(str(9 - i), xs) for i, xs in enumerate(lists))
    there, again = (stats.bootstrap_interval(d, ALPHA) for d in (forth, renamed))
    assert (there.lo, there.hi, there.tail_level) == (again.lo, again.hi, again.tail_level)


@quick
@given(designs, st.fractions(Fraction(1, 7), 3, max_denominator=7), st.fractions(-1, 1, max_denominator=5))
def test_scaling_and_shifting_every_difference_scales_and_shifts_the_interval(
    lists: list[list[Fraction]], by: Fraction, plus: Fraction
) -> None:
    one, other = plain(lists), plain([[by * x + plus for x in xs] for xs in lists])
    assert other.tail_level == one.tail_level
    if one.kind == "exact" and other.kind == "exact" and one.lo is not None and one.hi is not None:
        assert (other.lo, other.hi) == (by * one.lo + plus, by * one.hi + plus)


@quick
@given(designs)
def test_a_smaller_alpha_never_narrows_the_interval(lists: list[list[Fraction]]) -> None:
    design = stats.design(stats.stratum(str(i), xs) for i, xs in enumerate(lists))
    wide, narrow = (stats.bootstrap_interval(design, a) for a in (Fraction(1, 100), ALPHA))
    if wide.lo is not None and wide.hi is not None and narrow.lo is not None and narrow.hi is not None:
        assert wide.lo <= narrow.lo
        assert narrow.hi <= wide.hi
