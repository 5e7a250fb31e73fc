"""Guests and those who look after them."""


def escort(book, host: str, guest: str, area: str) -> None:
    """Let a guest into an area; only somebody who may enter it can do that (else Denied)."""
    book.check(host, area)
    book.grant(guest, area)


def shared(book, host: str, guest: str, areas: list) -> list:
    """The areas which both may enter."""
    return [area for area in areas if book.check(host, area) and book.check(guest, area)]


def end_visit(book, guest: str, areas: list) -> int:
    """Take a guest's rights back; gives how many there were."""
    ended = 0
    for area in areas:
        if book.check(guest, area):
            book.revoke(guest, area)
            ended += 1
    return ended
