"""Picking parts for a work order."""
from binstock import bins


def pick(store, order: dict) -> dict:
    """Take what the order asks for, as far as there is; gives what is short."""
    short = {}
    for sku, wanted in order.items():
        available = bins.on_hand(store, sku)
        count = min(wanted, available)
        if count:
            bins.issue(store, sku, count)
        if count < wanted:
            short[sku] = wanted - count
    return short


def put_back(store, order: dict) -> None:
    """Return parts that were picked and not used."""
    for sku, count in order.items():
        if count:
            bins.receive(store, sku, count)
