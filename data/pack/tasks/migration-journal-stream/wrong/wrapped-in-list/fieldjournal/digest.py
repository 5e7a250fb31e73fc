"""Figures about a journal."""


def digest(journal, kind=None) -> dict:
    """Number, newest and oldest text of the entries (None where there is no entry)."""
    entries = list(journal.stream(kind))
    return {
        "number": len(entries),
        "newest": entries[0].text if entries else None,
        "oldest": entries[-1].text if entries else None,
    }


def share(journal, kind: str) -> float:
    """The share that a kind has in all entries, 0.0 for an empty journal."""
    if not list(journal.stream()):
        return 0.0
    return len(list(journal.stream(kind))) / len(list(journal.stream()))
