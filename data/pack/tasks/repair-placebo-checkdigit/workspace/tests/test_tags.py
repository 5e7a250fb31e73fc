import pytest

from parceltag import check_digit, is_valid, make_tag


def test_odd_count_of_digits():
    assert check_digit("12345") == 7


def test_even_count_of_digits():
    assert check_digit("1234") == 8
    assert check_digit("90-00") == 1


def test_make_tag():
    assert make_tag("1234") == "1234 8"


def test_is_valid():
    assert is_valid("1234 8")
    assert not is_valid("1234 3")
    assert not is_valid("x")


def test_letters_are_refused():
    with pytest.raises(ValueError):
        check_digit("12a4")
