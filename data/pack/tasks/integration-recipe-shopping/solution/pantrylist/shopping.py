"""The list to take to the shop."""
from pantrylist.collect import collect
from pantrylist.scaling import scale


def shopping_list(plan: list, book: dict) -> list[str]:
    """Lines such as ``flour: 250 g`` for a plan of (recipe name, people), in order of the names."""
    totals = {}
    for name, people in plan:
        totals = collect(scale(book[name], people), totals)
    return [f"{name}: {quantity} {unit}".rstrip() for (name, unit), quantity in sorted(totals.items())]
