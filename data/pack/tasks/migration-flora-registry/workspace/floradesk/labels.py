"""Labels for the beds."""
from floradesk.registry import UnknownCode


def labels(registry, codes: list) -> list:
    """A label for each code, in their order; a question mark stands where the code is unknown."""
    result = []
    for code in codes:
        try:
            species = registry.lookup(code)
        except UnknownCode:
            result.append(f"{code}: ?")
        else:
            result.append(f"{code}: {species.name}")
    return result
