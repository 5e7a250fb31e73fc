# wb-canary-397b3fef
import pytest

from plotring.report import describe
from plotring.rings import area, centroid, perimeter, signed_area

ELL = [(0, 0), (4, 0), (4, 2), (2, 2), (2, 6), (0, 6)]
TRIANGLE = [(-3, -3), (0, -3), (-3, 3)]


def moved(ring, dx, dy):
    return [(x + dx, y + dy) for x, y in ring]


@pytest.mark.parametrize("ring, expected", [
    ([(2, 2), (4, 2), (4, 4), (2, 4)], (3, 3)),
    (TRIANGLE, (-2, -1)),
    (ELL, (1.5, 2.5)),
    (moved(ELL, -10, 3), (-8.5, 5.5)),
    ([(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (4, 2), (0, 2)], (2, 1)),
    ([(-1, -1), (1, -1), (1, 1), (-1, 1)], (0, 0)),
])
def test_both_directions_agree(ring, expected):
    assert centroid(ring) == pytest.approx(expected)
    assert centroid(ring[::-1]) == pytest.approx(expected)


def test_first_corner_does_not_matter():
    for start in range(len(ELL)):
        turned = ELL[start:] + ELL[:start]
        assert centroid(turned) == pytest.approx((1.5, 2.5))
        assert centroid(turned[::-1]) == pytest.approx((1.5, 2.5))


def test_clockwise_across_the_origin():
    ring = [(-4, -1), (-4, 1), (2, 1), (2, -1)]
    assert centroid(ring) == pytest.approx((-1, 0))


def test_areas_keep_their_signs():
    assert signed_area(ELL) == 16
    assert signed_area(ELL[::-1]) == -16
    assert area(ELL[::-1]) == 16
    assert perimeter(ELL[::-1]) == 20


def test_no_area_is_an_error():
    for ring in ([(0, 0), (2, 2), (4, 4)], [(1, 1), (5, 1)]):
        with pytest.raises(ValueError):
            centroid(ring)


def test_describe_clockwise():
    assert describe("B", TRIANGLE[::-1]).endswith("sign at (-2.0, -1.0)")
