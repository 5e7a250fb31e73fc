"""Counts of plants in the field."""
from floradesk.labels import find_all


def _count(found: dict, sightings: list) -> dict:
    counts = {}
    for code in sightings:
        family = found[code].family if code in found else None
        counts[family] = counts.get(family, 0) + 1
    return counts


def by_family(registry, sightings: list) -> dict:
    """How often each family was seen; sightings are codes, and unknown ones count for the family None."""
    return _count(find_all(registry, sightings), sightings)


def compare(registry, before: list, after: list) -> list:
    """The families that were seen after and not before, sorted; unknown codes don't count."""
    found = find_all(registry, before + after)
    old = _count(found, before)
    new = _count(found, after)
    return sorted(family for family in new if family is not None and family not in old)
