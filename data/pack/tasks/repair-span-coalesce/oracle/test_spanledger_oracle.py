# wb-canary-51a4df6b
import pytest

from spanledger import SpanSet, format_spans, parse_spans


@pytest.mark.parametrize("order", [
    [(0, 5), (5, 9), (9, 12)],
    [(9, 12), (0, 5), (5, 9)],
    [(5, 9), (9, 12), (0, 5)],
])
def test_touching_in_any_order(order):
    covered = SpanSet(order)
    assert covered.spans() == [(0, 12)]
    assert len(covered) == 1
    assert covered.gaps() == []


def test_overlapping_spans_are_joined():
    assert SpanSet([(0, 5), (3, 9)]).spans() == [(0, 9)]
    assert SpanSet([(3, 9), (0, 5)]).spans() == [(0, 9)]


def test_inner_span_changes_nothing():
    covered = SpanSet([(0, 10), (2, 4), (0, 3), (7, 10)])
    assert covered.spans() == [(0, 10)]
    assert covered.total() == 10


def test_one_position_between_stays_a_gap():
    covered = SpanSet([(0, 5), (6, 9)])
    assert covered.spans() == [(0, 5), (6, 9)]
    assert covered.gaps() == [(5, 6)]
    assert 5 not in covered


def test_filling_a_gap_joins_both_sides():
    covered = SpanSet([(0, 5), (6, 9)])
    covered.add(5, 6)
    assert covered.spans() == [(0, 9)]
    covered.add(20, 20)
    assert covered.spans() == [(0, 9)]


def test_remove_and_put_back():
    covered = SpanSet([(0, 10)])
    covered.remove(3, 6)
    assert covered.gaps() == [(3, 6)]
    covered.add(3, 6)
    assert covered.spans() == [(0, 10)]


def test_as_text():
    assert format_spans(parse_spans("7-9,0-5,5-7,11-12")) == "0-9,11-12"
