# wb-canary-2fcca061
import pytest

from lapboard.board import board
from lapboard.ranking import rank
from lapboard.tally import Tally


def bibs(tallies):
    return [tally.bib for _, tally in rank(tallies)]


def test_more_laps_first():
    assert bibs([Tally(1, 2, 10), Tally(2, 5, 99), Tally(3, 3, 50)]) == [2, 3, 1]


def test_same_laps_earlier_first():
    assert bibs([Tally(1, 3, 95), Tally(2, 3, 90), Tally(3, 3, 99)]) == [2, 1, 3]


def test_same_result_smaller_bib_first():
    assert bibs([Tally(8, 3, 90), Tally(5, 3, 90), Tally(6, 3, 90)]) == [5, 6, 8]


def test_places_of_equal_riders():
    placed = rank([Tally(8, 3, 90), Tally(5, 3, 90), Tally(2, 3, 91), Tally(1, 4, 200)])
    assert [(place, tally.bib) for place, tally in placed] == [(1, 1), (2, 5), (2, 8), (4, 2)]


def test_board_with_a_close_finish():
    lines = ["4 01:00", "2 01:00", "9 00:59", "2 02:00", "4 02:00", "9 02:01"]
    assert board(lines) == ["1. #2 2 laps 02:00", "1. #4 2 laps 02:00", "3. #9 2 laps 02:01"]


def test_rank_leaves_its_argument_alone():
    tallies = [Tally(1, 1, 10), Tally(2, 2, 20)]
    rank(tallies)
    assert [tally.bib for tally in tallies] == [1, 2]


@pytest.mark.parametrize("lines", [[], ["", "  "]])
def test_nobody_has_crossed(lines):
    assert board(lines) == []
