from heatboard.board import render
from heatboard.placings import Result, best_rank, medallists, rank_results


def test_place_after_a_shared_first_is_third():
    heat = [Result("Cem", 20), Result("Ada", 30), Result("Bo", 30)]
    assert [placing.rank for placing in rank_results(heat)] == [1, 1, 3]


def test_ranks_without_ties():
    heat = [Result("Bo", 12), Result("Ada", 30), Result("Cem", 7)]
    assert [(p.rank, p.name) for p in rank_results(heat)] == [(1, "Ada"), (2, "Bo"), (3, "Cem")]


def test_medallists_are_the_first_three():
    heat = [Result("Ada", 4), Result("Bo", 3), Result("Cem", 2), Result("Dee", 1)]
    assert medallists(heat) == ["Ada", "Bo", "Cem"]


def test_best_rank_of_somebody():
    assert best_rank([Result("Ada", 4), Result("Bo", 9)], "Ada") == 2


def test_render_aligns_columns():
    assert render([Result("Bo", 9), Result("Adaline", 4)]) == "  1  Bo       9\n  2  Adaline  4"
