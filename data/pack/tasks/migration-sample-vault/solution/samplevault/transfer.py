"""Moving samples from one vault to another."""


def move(source, target, labels: list) -> int:
    """Move samples; gives the moved grams. If one can't be moved, both vaults stay as they were."""
    grams = 0
    with source.batch(), target.batch():
        for label in labels:
            weight = source.remove(label)
            target.add(label, weight)
            grams += weight
    return grams
