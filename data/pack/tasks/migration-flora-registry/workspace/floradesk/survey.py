"""Counts of plants in the field."""
from floradesk.registry import UnknownCode


def by_family(registry, sightings: list) -> dict:
    """How often each family was seen; sightings are codes, and unknown ones count for the family None."""
    counts = {}
    for code in sightings:
        try:
            family = registry.lookup(code).family
        except UnknownCode:
            family = None
        counts[family] = counts.get(family, 0) + 1
    return counts


def compare(registry, before: list, after: list) -> list:
    """The families that were seen after and not before, sorted; unknown codes don't count."""
    old = by_family(registry, before)
    new = by_family(registry, after)
    return sorted(family for family in new if family is not None and family not in old)
