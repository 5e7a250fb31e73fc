"""Reckon prices."""
from quotewell.catalogue import Catalogue


def unit_price(catalogue: Catalogue, sku: str) -> int:
    """Price of one piece in cents; half a cent of discount goes to the shop."""
    bundle = catalogue.bundle(sku)
    if bundle is None:
        return catalogue.price(sku)
    parts, discount = bundle
    full = sum(unit_price(catalogue, part) * count for part, count in parts.items())
    return (full * (100 - discount) + 50) // 100
