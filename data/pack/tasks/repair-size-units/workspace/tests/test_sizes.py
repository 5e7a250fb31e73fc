from sizetext import format_size, parse_size
from sizetext.listing import growth, listing


def test_rounding_up_to_the_next_unit():
    assert format_size(1048575) == "1.0 MiB"


def test_negative_size():
    assert format_size(-2048) == "-2.0 KiB"


def test_plain_sizes():
    assert format_size(0) == "0 B"
    assert format_size(512) == "512 B"
    assert format_size(1536) == "1.5 KiB"
    assert format_size(5 * 1024 ** 3, digits=2) == "5.00 GiB"


def test_parse():
    assert parse_size("1.5 KiB") == 1536
    assert parse_size(" 12 ") == 12


def test_growth():
    assert growth(1024, 3072) == "+2.0 KiB"
    assert growth(10, 10) == "0 B"


def test_listing():
    assert listing({"a": 1024, "bb": 2048}).splitlines()[0] == "bb        2.0 KiB"
