"""How many sheets it takes to print badges."""
from badgepress import palette


def needed(badges: int, size: str) -> int:
    """The number of sheets for so many badges of a size."""
    fit = palette.per_sheet(size)
    return (badges + fit - 1) // fit


def spare(badges: int, size: str) -> int:
    """How many places stay empty on the last sheet."""
    return needed(badges, size) * palette.per_sheet(size) - badges
