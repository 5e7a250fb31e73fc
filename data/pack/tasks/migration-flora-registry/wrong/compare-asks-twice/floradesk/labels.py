"""Labels for the beds."""
from floradesk import registry as flora


def find_all(registry, codes: list) -> dict:
    """The known species of any number of codes, by code, in as few requests as possible."""
    different = list(dict.fromkeys(codes))
    found = {}
    while different:
        found.update(registry.lookup_many(different[:flora.MAX_CODES]))
        del different[:flora.MAX_CODES]
    return found


def labels(registry, codes: list) -> list:
    """A label for each code, in their order; a question mark stands where the code is unknown."""
    found = find_all(registry, codes)
    return [f"{code}: {found[code].name if code in found else '?'}" for code in codes]
