"""The journal page by page, newest entries first."""


def page(journal, number: int, size: int, kind=None) -> list:
    """One page of entries, newest first; pages count from 1, and those past the end are empty."""
    if number < 1:
        raise ValueError("pages count from 1")
    newest_first = list(journal.stream(kind))[::-1]
    return newest_first[(number - 1) * size:number * size]


def page_count(journal, size: int, kind=None) -> int:
    """How many pages there are."""
    number = sum(1 for _ in journal.stream(kind))
    return -(-number // size)
