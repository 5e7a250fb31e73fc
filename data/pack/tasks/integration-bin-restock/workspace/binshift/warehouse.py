"""Bins, and what is in them."""
from typing import NamedTuple


class Bin(NamedTuple):
    """A place for one sku. Reserve bins have no limits."""

    name: str
    zone: str
    sku: str
    minimum: int = 0
    maximum: int = 0


class Warehouse:
    """The bins with their present contents."""

    def __init__(self, bins) -> None:
        self.bins = {bin_.name: bin_ for bin_ in bins}
        self._held = {bin_.name: 0 for bin_ in bins}

    def put(self, name: str, quantity: int) -> None:
        """Goods arrive in a bin."""
        self._held[name] += quantity

    def held(self, name: str) -> int:
        """How many are in a bin."""
        return self._held[name]

    def zone(self, zone: str) -> list:
        """The bins of a zone in order of their names."""
        return sorted(bin_ for bin_ in self.bins.values() if bin_.zone == zone)

    def move(self, sku: str, source: str, target: str, quantity: int) -> None:
        """Take some of a sku out of the source bin and put them into the target bin."""
        for name in (source, target):
            if self.bins[name].sku != sku:
                raise ValueError(f"{name} is not a bin for {sku}")
        if self._held[source] < quantity:
            raise ValueError(f"{source} holds only {self._held[source]}")
        self._held[source] -= quantity
        self._held[target] += quantity
