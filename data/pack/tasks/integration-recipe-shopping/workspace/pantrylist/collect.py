"""Add ingredients up."""


def collect(ingredients: list, totals: dict = {}) -> dict:
    """Add ingredients to the totals, which are kept by name and unit."""
    for item in ingredients:
        key = (item.name, item.unit)
        totals[key] = totals.get(key, 0) + item.quantity
    return totals
