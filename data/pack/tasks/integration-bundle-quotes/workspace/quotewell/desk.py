"""Answer customers."""
from quotewell.cache import QuoteCache
from quotewell.catalogue import Catalogue
from quotewell.pricing import unit_price


class QuoteDesk:
    """Gives quotes and remembers them."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._cache = QuoteCache()
        self.reckoned = 0
        catalogue.subscribe(self._cache.drop)

    def quote(self, sku: str, quantity: int = 1) -> int:
        """Price of so many pieces in cents; from ten on, each tenth piece is free."""
        cents = self._cache.get(sku, quantity)
        if cents is None:
            self.reckoned += 1
            cents = unit_price(self._catalogue, sku) * (quantity - quantity // 10)
            self._cache.put(sku, quantity, cents)
        return cents
