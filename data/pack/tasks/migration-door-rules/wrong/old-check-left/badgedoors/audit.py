"""Looking over the rights, and handing them on."""


def orphans(book, areas: list) -> list:
    """The areas which nobody may enter."""
    return [area for area in areas if not book.holders(area)]


def matrix(book, badges: list, areas: list) -> dict:
    """For each badge a list of True and False, one for each area."""
    return {badge: [book.check(badge, area) for area in areas] for badge in badges}


def hand_over(book, old: str, new: str, areas: list) -> None:
    """Hand the areas on from one badge to another.

    The old badge must have all of them (else Denied, and nothing is changed).
    """
    for area in areas:
        book.check(old, area)
    for area in areas:
        book.grant(new, area)
        book.revoke(old, area)
