# wb-canary-5c25fcd3
import pytest

from pipefield.records import RecordError, read_records, split_record
from pipefield.table import read_table


@pytest.mark.parametrize("line, fields", [
    ("ann | 12 |x", ["ann", "12", "x"]),
    ("  two words  ", ["two words"]),
    ("ann|   |x", ["ann", None, "x"]),
    ("ann|12|  ", ["ann", "12", None]),
])
def test_unquoted_fields_lose_padding(line, fields):
    assert split_record(line) == fields


@pytest.mark.parametrize("line, fields", [
    ("a|", ["a", None]),
    ("|", [None, None]),
    ("||", [None, None, None]),
    ("", [None]),
    ('a|""', ["a", ""]),
    ('""', [""]),
    ('""|', ["", None]),
])
def test_last_field_is_never_lost(line, fields):
    assert split_record(line) == fields


def test_quoted_fields_are_kept_to_the_letter():
    assert split_record('"  x "| y |"   "') == ["  x ", "y", "   "]
    assert split_record('"a | b"|"""q"""|""""') == ["a | b", '"q"', '"']


def test_quote_state_does_not_leak():
    assert split_record('" a "| b ') == [" a ", "b"]
    assert split_record('""||x') == ["", None, "x"]


@pytest.mark.parametrize("line", ['"', 'a|"b', '"a""', '"a|b'])
def test_open_quotes_are_refused(line):
    with pytest.raises(RecordError):
        split_record(line)


def test_blank_lines_are_skipped():
    assert list(read_records(["a|b\n", "\n", "   \r\n", "c|\n"])) == [["a", "b"], ["c", None]]


def test_table_with_padded_header_and_missing_value():
    assert read_table([" name | note ", "ann|", 'bo |" "']) == [
        {"name": "ann", "note": None}, {"name": "bo", "note": " "}]
    with pytest.raises(RecordError):
        read_table(["a|b", "1|2|"])
