# wb-canary-c721c4ea
import pytest

from heatboard.board import render
from heatboard.placings import Result, best_rank, medallists, rank_results


def heat(*points):
    return [Result(f"n{index:02}", value) for index, value in enumerate(points)]


def ranks(*points):
    return [placing.rank for placing in rank_results(heat(*points))]


@pytest.mark.parametrize("points, expected", [
    ((30, 30, 20), [1, 1, 3]),
    ((9, 9, 9, 1), [1, 1, 1, 4]),
    ((50, 40, 40, 30, 30, 10), [1, 2, 2, 4, 4, 6]),
    ((7, 7, 7, 7), [1, 1, 1, 1]),
    ((5, 4, 4, 4, 4, 3, 3, 2), [1, 2, 2, 2, 2, 6, 6, 8]),
    ((0, -1, -1, -2), [1, 2, 2, 4]),
])
def test_ranks_of_sorted_points(points, expected):
    assert ranks(*points) == expected


def test_input_order_does_not_matter():
    rows = rank_results([Result("Dee", 1), Result("Cem", 5), Result("Ada", 5), Result("Bo", 8)])
    assert [(p.rank, p.name, p.points) for p in rows] == [
        (1, "Bo", 8), (2, "Ada", 5), (2, "Cem", 5), (4, "Dee", 1)]


def test_nobody_started():
    assert rank_results([]) == []
    assert render([]) == ""


def test_medallists_respect_skipped_places():
    assert medallists(heat(9, 9, 9, 8)) == ["n00", "n01", "n02"]
    assert medallists(heat(9, 8, 7, 7, 6)) == ["n00", "n01", "n02", "n03"]


def test_best_rank_after_ties():
    results = heat(4, 4, 4) + [Result("late", 1), Result("late", 2)]
    assert best_rank(results, "late") == 4
    with pytest.raises(KeyError):
        best_rank(results, "nobody")


def test_render_shows_the_ranks():
    assert render(heat(3, 3, 1)).split() == ["1", "n00", "3", "1", "n01", "3", "3", "n02", "1"]
