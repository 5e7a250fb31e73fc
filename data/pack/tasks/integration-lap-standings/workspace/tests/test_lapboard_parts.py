import pytest

from lapboard.ranking import assign_places, rank
from lapboard.tally import Tally, tally_up
from lapboard.timing import Crossing, parse_crossing


def test_crossing_is_read():
    assert parse_crossing("12 02:05") == Crossing(12, 125)
    with pytest.raises(ValueError):
        parse_crossing("12 02:75")


def test_laps_are_counted():
    tallies = tally_up([Crossing(9, 60), Crossing(2, 61), Crossing(9, 119)])
    assert tallies == [Tally(2, 1, 61), Tally(9, 2, 119)]


def test_places_are_shared():
    ordered = [Tally(1, 3, 90), Tally(2, 3, 90), Tally(3, 2, 50)]
    assert [place for place, _ in assign_places(ordered)] == [1, 1, 3]


def test_rank_of_one():
    assert rank([Tally(4, 1, 30)]) == [(1, Tally(4, 1, 30))]
