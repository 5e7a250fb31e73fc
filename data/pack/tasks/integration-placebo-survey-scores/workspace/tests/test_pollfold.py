import pytest

from pollfold.ranking import best_scores
from pollfold.scores import add_up
from pollfold.slips import read_slips


def test_slips_are_read():
    assert read_slips("Moss: 7\n\nOn time: 10\n") == [("Moss", 7), ("On time", 10)]
    with pytest.raises(ValueError):
        read_slips("Moss: 11")


def test_points_are_added():
    assert add_up([("Moss", 7), ("Ferns", 2), ("Moss", 1)]) == {"Moss": 8, "Ferns": 2}


def test_single_talk():
    assert best_scores("Moss: 7\nMoss: 2\n") == [9]


def test_best_talks_first():
    assert best_scores("a: 1\nb: 9\nc: 4\nd: 6\n") == [9, 6, 4]
