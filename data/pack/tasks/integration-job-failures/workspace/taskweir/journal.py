"""What happened."""
from typing import NamedTuple


class Entry(NamedTuple):
    name: str
    status: str
    detail: str = ""


class Journal:
    """Entries in the order in which they were made."""

    def __init__(self) -> None:
        self.entries = []

    def record(self, name: str, status: str, detail: str = "") -> None:
        """Add an entry."""
        self.entries.append(Entry(name, status, detail))

    def names(self, status: str) -> list:
        """Jobs that have an entry of this status, in order of the entries."""
        return [entry.name for entry in self.entries if entry.status == status]

    def lines(self) -> list:
        """The journal for people."""
        return [f"{entry.name} {entry.status}" + (f" ({entry.detail})" if entry.detail else "") for entry in self.entries]
