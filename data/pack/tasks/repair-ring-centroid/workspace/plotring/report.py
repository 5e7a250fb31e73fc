"""A line of text for each plot."""

from plotring.rings import Ring, area, centroid, perimeter


def describe(name: str, ring: Ring) -> str:
    x, y = centroid(ring)
    return f"{name}: {area(ring):.1f} m2, fence {perimeter(ring):.1f} m, sign at ({x:.1f}, {y:.1f})"
