from spanledger import SpanSet, format_spans, parse_spans


def test_touching_spans_become_one():
    covered = SpanSet([(0, 5), (5, 9)])
    assert covered.spans() == [(0, 9)]
    assert covered.gaps() == []


def test_distant_spans_stay_apart():
    covered = SpanSet([(20, 25), (0, 5)])
    assert covered.spans() == [(0, 5), (20, 25)]
    assert covered.gaps() == [(5, 20)]


def test_total_and_membership():
    covered = SpanSet([(0, 3), (10, 14)])
    assert covered.total() == 7
    assert 2 in covered
    assert 3 not in covered


def test_remove_cuts_a_span():
    covered = SpanSet([(0, 10)])
    covered.remove(3, 6)
    assert covered.spans() == [(0, 3), (6, 10)]


def test_text_round_trip():
    assert format_spans(parse_spans("0-5, 7-9")) == "0-5,7-9"
