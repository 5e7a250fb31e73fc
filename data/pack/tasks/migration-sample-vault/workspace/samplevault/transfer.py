"""Moving samples from one vault to another."""


def move(source, target, labels: list) -> int:
    """Move samples; gives the moved grams. If one can't be moved, both vaults stay as they were."""
    source.begin()
    target.begin()
    grams = 0
    try:
        for label in labels:
            weight = source.remove(label)
            target.add(label, weight)
            grams += weight
    except (ValueError, LookupError):
        source.rollback()
        target.rollback()
        raise
    source.commit()
    target.commit()
    return grams
