"""Add ingredients up."""


def collect(ingredients: list, totals: dict | None = None) -> dict:
    """Add ingredients to the totals, which are kept by name and unit."""
    if totals is None:
        totals = {}
    for item in ingredients:
        key = (item.name, item.unit)
        totals[key] = totals.get(key, 0) + item.quantity
    return totals
