"""Filling bins up again."""
from binstock import bins


def plan(store, factor: int = 2) -> dict:
    """What to order so that each part below its minimum gets to `factor` times it."""
    low = bins.below_minimum(store)
    return {sku: store.minimums[sku] * factor - bins.on_hand(store, sku) for sku in low}


def deliver(store, delivery: dict) -> list:
    """Book a delivery; gives the parts that are still low after it."""
    for sku, count in delivery.items():
        bins.put(store, sku, count)
    return bins.below_minimum(store)
