"""Lists of codes that have to be right."""


def verify(registry, codes: list) -> list:
    """The species of all codes, in their order; UnknownCode for the first one that is unknown."""
    return [registry.lookup(code) for code in codes]


def first_known(registry, codes: list):
    """The first of the codes that the registry knows, or None."""
    from floradesk.registry import UnknownCode
    for code in codes:
        try:
            registry.lookup(code)
        except UnknownCode:
            continue
        return code
    return None
