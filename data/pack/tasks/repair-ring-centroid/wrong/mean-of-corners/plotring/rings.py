"""Measures of a ring of points."""

from collections.abc import Iterator
from math import hypot

Point = tuple[float, float]
Ring = list[Point]


def edges(ring: Ring) -> Iterator[tuple[Point, Point]]:
    """The edges, the last one leads back to the first point."""
    for index, point in enumerate(ring):
        yield point, ring[(index + 1) % len(ring)]


def signed_area(ring: Ring) -> float:
    """Area by the shoelace formula, negative for clockwise rings."""
    return sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in edges(ring)) / 2


def area(ring: Ring) -> float:
    return abs(signed_area(ring))


def is_clockwise(ring: Ring) -> bool:
    return signed_area(ring) < 0


def perimeter(ring: Ring) -> float:
    return sum(hypot(x1 - x0, y1 - y0) for (x0, y0), (x1, y1) in edges(ring))


def centroid(ring: Ring) -> Point:
    """Centre of mass of the area within the ring."""
    signed = signed_area(ring)
    size = abs(signed)
    if size == 0:
        raise ValueError("ring has no area")
    moment_x = 0.0
    moment_y = 0.0
    for (x0, y0), (x1, y1) in edges(ring):
        cross = x0 * y1 - x1 * y0
        moment_x += (x0 + x1) * cross
        moment_y += (y0 + y1) * cross
    if signed < 0:
        return sum(x for x, _ in ring) / len(ring), sum(y for _, y in ring) / len(ring)
    scale = 6 * size
    return moment_x / scale, moment_y / scale
