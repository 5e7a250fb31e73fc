import pytest

from pipefield.records import RecordError, split_record
from pipefield.table import read_table


def test_padding_is_dropped():
    assert split_record("ann | 12 |x") == ["ann", "12", "x"]


def test_last_field_may_be_missing():
    assert split_record("ann|12|") == ["ann", "12", None]


def test_missing_value_in_the_middle():
    assert split_record("ann||x") == ["ann", None, "x"]


def test_quoted_separator_and_quote():
    assert split_record('1|"a|b"|"say ""hi"""') == ["1", "a|b", 'say "hi"']


def test_open_quote_is_refused():
    with pytest.raises(RecordError):
        split_record('a|"b')


def test_table():
    assert read_table(["name|size", "", "ann|3"]) == [{"name": "ann", "size": "3"}]
