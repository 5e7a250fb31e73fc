# wb-canary-41285dde
import pytest

from sizetext import format_size, parse_size
from sizetext.listing import growth, listing


@pytest.mark.parametrize("count, text", [
    (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
    (1047552, "1023.0 KiB"), (1048000, "1023.4 KiB"), (1048520, "1023.9 KiB"), (1048575, "1.0 MiB"),
    (1048576, "1.0 MiB"), (1024 ** 3 - 1, "1.0 GiB"), (1024 ** 3 - 200000, "1023.8 MiB"),
    (1024 ** 4 - 1, "1.0 TiB"),
])
def test_one_digit(count, text):
    assert format_size(count) == text


@pytest.mark.parametrize("count, digits, text", [
    (1048063, 0, "1023 KiB"), (1048064, 0, "1 MiB"), (1048570, 3, "1023.994 KiB"), (1048575, 2, "1.00 MiB"),
    (1048570, 2, "1023.99 KiB"), (1048575, 3, "1023.999 KiB"), (1048575, 4, "1023.9990 KiB"), (1023, 0, "1023 B"),
])
def test_figure_as_it_is_shown(count, digits, text):
    assert format_size(count, digits=digits) == text


@pytest.mark.parametrize("count", [1, 1023, 1024, 5000, 1048575, 1048520, 1024 ** 3 - 1, 7 * 1024 ** 5])
def test_negative_mirrors_positive(count):
    assert format_size(-count) == "-" + format_size(count)


def test_negative_values_spelt_out():
    assert format_size(-2048) == "-2.0 KiB"
    assert format_size(-1048575) == "-1.0 MiB"
    assert format_size(-1000) == "-1000 B"


def test_nothing_above_the_last_unit():
    assert format_size(1024 ** 5) == "1024.0 TiB"
    assert format_size(2500 * 1024 ** 4) == "2500.0 TiB"


def test_growth_and_listing():
    assert growth(3072, 1024) == "-2.0 KiB"
    assert growth(0, 1048575) == "+1.0 MiB"
    assert listing({"x": 1048575, "y": 1}).splitlines() == [
        "x         1.0 MiB", "y             1 B", "total     1.0 MiB"]


def test_parse_reads_what_was_written():
    for count in (0, 1023, 1536, 3 * 1024 ** 2, -2048):
        assert parse_size(format_size(count)) == count
    with pytest.raises(ValueError):
        parse_size("12 parsecs")
