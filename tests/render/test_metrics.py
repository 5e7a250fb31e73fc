"""`metrics.json`: what DVC can show as columns, refused numbers apart from published ones."""

from __future__ import annotations

from typing import Any

from stages.render import flat_metrics
from tests.gate.builder import clear_effect, make_study, outcomes


def leaves(value: dict[str, Any]) -> list[Any]:
    return [leaf for v in value.values() for leaf in (leaves(v) if isinstance(v, dict) else [v])]


def test_only_numbers_booleans_and_short_strings_in_nested_objects() -> None:
    for study in (
        make_study(clear_effect()),
        make_study(outcomes("left", 1, 0, 1)),
        make_study(clear_effect(), mode="tutorial"),
    ):
        for leaf in leaves(flat_metrics(study.decide())):
            assert isinstance(leaf, int | float | str)
            assert leaf == leaf, "no NaN"
            assert not isinstance(leaf, str) or len(leaf) <= 100


def test_refused_numbers_dont_stand_in_the_column_of_published_ones() -> None:
    good, bad = make_study(clear_effect()), make_study(clear_effect(), order="sequential")
    published, withheld = flat_metrics(good.decide()), flat_metrics(bad.decide())
    assert published["published"]["delta"] == withheld["withheld"]["delta"] == 0.6
    assert "withheld" not in published
    assert "published" not in withheld
    assert published["published"]["strata"] == {"left": 0.6, "right": 0.6}
    assert (withheld["decision"], withheld["reason"], withheld["reasons"]) == ("withhold", "not_interleaved", 1)


def test_a_study_that_is_no_benchmark_has_no_figures_in_its_metrics() -> None:
    made = flat_metrics(make_study(clear_effect(), mode="exploratory").decide())
    assert set(made) == {"decision", "reason", "reasons", "slice", "candidate", "counts"}
    assert not any(isinstance(leaf, float) for leaf in leaves(made))


def test_a_case_series_has_no_column() -> None:
    made = flat_metrics(
        make_study([*outcomes("left", 16, 1, 8), *outcomes("odd", 1, 0, 0)], {"case_series": ["odd"]}).decide()
    )
    assert made["withheld"]["strata"] == {"left": 0.6}
