"""Prices and bundles."""


class Catalogue:
    """What can be sold. Changes are told to the listeners."""

    def __init__(self) -> None:
        self._prices = {}
        self._bundles = {}
        self._listeners = []

    def subscribe(self, listener) -> None:
        """Have a function called with each sku whose price may have changed."""
        self._listeners.append(listener)

    def _affected(self, sku: str) -> list:
        found = [sku]
        for inner in found:
            for bundle, (parts, _) in self._bundles.items():
                if inner in parts and bundle not in found:
                    found.append(bundle)
        return found

    def _tell(self, sku: str) -> None:
        for affected in self._affected(sku):
            for listener in self._listeners:
                listener(affected)

    def set_price(self, sku: str, cents: int) -> None:
        """Set the price of a single sku, which may be new."""
        if sku in self._bundles:
            raise ValueError(f"{sku} is a bundle")
        self._prices[sku] = cents
        self._tell(sku)

    def define_bundle(self, sku: str, parts: dict, discount: int = 0) -> None:
        """A new bundle of skus that exist already; the discount is in per cent."""
        if sku in self._prices or sku in self._bundles:
            raise ValueError(f"{sku} exists already")
        for part in parts:
            if part not in self._prices and part not in self._bundles:
                raise ValueError(f"unknown part {part}")
        self._bundles[sku] = (dict(parts), discount)

    def set_discount(self, sku: str, discount: int) -> None:
        """Change the discount of a bundle."""
        parts, _ = self._bundles[sku]
        self._bundles[sku] = (parts, discount)
        self._tell(sku)

    def price(self, sku: str) -> int:
        """Price of a single sku."""
        return self._prices[sku]

    def bundle(self, sku: str):
        """Parts and discount of a bundle, or None if the sku isn't one."""
        return self._bundles.get(sku)
