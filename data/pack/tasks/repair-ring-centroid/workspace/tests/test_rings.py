import pytest

from plotring.report import describe
from plotring.rings import area, centroid, is_clockwise, perimeter, signed_area

SQUARE = [(2, 2), (4, 2), (4, 4), (2, 4)]


def test_centroid_of_a_clockwise_square():
    assert centroid([(2, 2), (2, 4), (4, 4), (4, 2)]) == (3.0, 3.0)


def test_centroid_of_a_square():
    assert centroid(SQUARE) == (3.0, 3.0)


def test_area_has_no_sign():
    assert area(SQUARE) == area(SQUARE[::-1]) == 4
    assert signed_area(SQUARE[::-1]) == -4


def test_direction_and_fence():
    assert not is_clockwise(SQUARE)
    assert is_clockwise(SQUARE[::-1])
    assert perimeter(SQUARE) == 8


def test_flat_ring_is_refused():
    with pytest.raises(ValueError):
        centroid([(0, 0), (1, 1), (2, 2)])


def test_describe():
    assert describe("A", SQUARE) == "A: 4.0 m2, fence 8.0 m, sign at (3.0, 3.0)"
