"""Keep quotes."""


class QuoteCache:
    """Quotes by (sku, quantity)."""

    def __init__(self) -> None:
        self._kept = {}

    def get(self, sku: str, quantity: int):
        """The quote, or None."""
        return self._kept.get((sku, quantity))

    def put(self, sku: str, quantity: int, cents: int) -> None:
        """Keep a quote."""
        self._kept[(sku, quantity)] = cents

    def drop(self, sku: str) -> None:
        """Forget the quotes of a sku."""
        self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)
