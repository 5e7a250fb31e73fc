"""Counting by hand, and what follows from it."""
from binstock import bins


def adjust(store, sku: str, qty: int) -> int:
    """Set a part to the counted quantity; gives the difference to the books."""
    if qty < 0:
        raise ValueError("a count can't be negative")
    difference = qty - bins.on_hand(store, sku)
    if difference > 0:
        bins.receive(store, sku, difference)
    elif difference < 0:
        bins.issue(store, sku, -difference)
    return difference


def sheet(store) -> list:
    """The stock sheet: a row of sku, qty and low for every known part."""
    low = set(bins.below_minimum(store))
    known = sorted(set(store.counts) | set(store.minimums))
    return [{"sku": sku, "qty": bins.on_hand(store, sku), "low": sku in low} for sku in known]
