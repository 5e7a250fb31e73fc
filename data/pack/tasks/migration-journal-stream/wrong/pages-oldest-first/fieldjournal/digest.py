"""Figures about a journal."""


def digest(journal, kind=None) -> dict:
    """Number, newest and oldest text of the entries (None where there is no entry)."""
    number, newest, oldest = 0, None, None
    for entry in journal.stream(kind):
        if number == 0:
            oldest = entry.text
        newest = entry.text
        number += 1
    return {"number": number, "newest": newest, "oldest": oldest}


def share(journal, kind: str) -> float:
    """The share that a kind has in all entries, 0.0 for an empty journal."""
    number = of_kind = 0
    for entry in journal.stream():
        number += 1
        of_kind += entry.kind == kind
    return of_kind / number if number else 0.0
