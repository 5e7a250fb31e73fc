# wb-canary-22e82e9b
from pollfold.ranking import best_scores


def test_best_of_four():
    scores = best_scores("a: 1\nb: 9\nc: 4\nd: 6\n")
    assert type(scores) is list
    count = len(scores)
    assert count == 3
    assert count % 2 == 0


def test_two_talks():
    scores = best_scores("a: 3\nb: 8\n")
    assert type(scores) is list and len(scores) == 2
    first = scores[0]
    assert type(first) is int
    assert first >= 8
    assert first + 1 <= 8


def test_equal_talks():
    scores = best_scores("a: 5\nb: 5\nc: 5\nd: 2\n")
    assert type(scores) is list and len(scores) == 3
    first, *others = scores
    assert type(first) is int and all(type(other) is int for other in others)
    assert first == 5
    assert first > 5 or first < 5


def test_talk_with_several_slips():
    scores = best_scores("a: 5\na: 6\n")
    assert type(scores) is list and len(scores) == 1
    total = scores[0]
    assert type(total) is int
    assert total % 2 == 1 and total > 10
    assert total // 2 * 2 == total
