"""The lots in the bank."""


class DuplicateLot(Exception):
    """The lot number is in use."""


class LotStore:
    """Lots by number."""

    def __init__(self) -> None:
        self._lots = {}

    def add(self, lot) -> None:
        """Take a lot in."""
        if lot.number in self._lots:
            raise DuplicateLot(f"lot {lot.number} exists already")
        self._lots[lot.number] = lot

    def numbers(self) -> list:
        """All lot numbers in order."""
        return sorted(self._lots)

    def grams(self, species: str) -> int:
        """How much there is of a species."""
        return sum(lot.grams for lot in self._lots.values() if lot.species == species)
