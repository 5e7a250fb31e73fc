"""Lists of codes that have to be right."""
from floradesk import registry as flora
from floradesk.labels import find_all


def verify(registry, codes: list) -> list:
    """The species of all codes, in their order; UnknownCode for the first one that is unknown."""
    found = find_all(registry, codes)
    for code in codes:
        if code not in found:
            raise flora.UnknownCode(code)
    return [found[code] for code in codes]


def first_known(registry, codes: list):
    """The first of the codes that the registry knows, or None."""
    found = find_all(registry, codes)
    return next((code for code in codes if code in found), None)
