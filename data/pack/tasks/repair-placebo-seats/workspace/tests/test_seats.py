import pytest

from seatshare import share_seats, summarize


def test_small_lists_get_their_seats():
    assert share_seats({"A": 53, "B": 24, "C": 23}, 7) == {"A": 3, "B": 2, "C": 2}


def test_one_seat_goes_to_the_strongest():
    assert share_seats({"A": 5, "B": 9}, 1) == {"A": 0, "B": 1}


def test_no_votes_no_seat():
    assert share_seats({"A": 0, "B": 1}, 2) == {"A": 0, "B": 2}


def test_negative_votes():
    with pytest.raises(ValueError):
        share_seats({"A": -1}, 2)


def test_summary():
    assert summarize({"A": 5, "B": 9}, 1) == "B: 1\nA: 0"
