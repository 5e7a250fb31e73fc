"""Counts of parts in their bins."""


class OutOfStock(Exception):
    """More was asked for than the bin holds."""


class Store:
    """A store room: counts by part, and the minimum that should be held."""

    def __init__(self, counts=None, minimums=None):
        self.counts = dict(counts or {})
        self.minimums = dict(minimums or {})


def on_hand(store, sku):
    """How many of a part are in its bin."""
    return store.counts.get(sku, 0)


def receive(store, sku, count):
    """Put parts into the bin; gives the new count."""
    if count <= 0:
        raise ValueError("count must be positive")
    store.counts[sku] = on_hand(store, sku) + count
    return store.counts[sku]


def issue(store, sku, count):
    """Take parts out of the bin; gives the new count."""
    if count <= 0:
        raise ValueError("count must be positive")
    if count > on_hand(store, sku):
        raise OutOfStock(sku)
    store.counts[sku] -= count
    return store.counts[sku]


def below_minimum(store):
    """The parts of which there are fewer than their minimum, sorted."""
    return sorted(sku for sku, least in store.minimums.items() if on_hand(store, sku) < least)
