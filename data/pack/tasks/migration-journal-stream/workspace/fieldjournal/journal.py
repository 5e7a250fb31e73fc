"""A journal of field work."""
from typing import NamedTuple


class JournalBusy(RuntimeError):
    """The journal is being read."""


class Entry(NamedTuple):
    day: int
    kind: str
    text: str


class Stream:
    """One pass over a journal, oldest entry first. Made by `Journal.stream`."""

    def __init__(self, journal, kind):
        self._journal = journal
        self._kind = kind
        self._next = 0
        self._open = True

    def __iter__(self):
        return self

    def __next__(self):
        while self._open and self._next < len(self._journal._entries):
            entry = self._journal._entries[self._next]
            self._next += 1
            self._journal.entries_read += 1
            if self._kind is None or entry.kind == self._kind:
                return entry
        self.close()
        raise StopIteration

    def close(self) -> None:
        """Free the journal."""
        if self._open:
            self._open = False
            self._journal._stream = None


class Journal:
    """Entries in the order in which they were written."""

    def __init__(self, entries=()):
        self._entries = list(entries)
        self._stream = None
        self.entries_read = 0

    @property
    def busy(self) -> bool:
        return self._stream is not None

    def append(self, entry: Entry) -> None:
        if self.busy:
            raise JournalBusy("can't write while the journal is read")
        self._entries.append(entry)

    def stream(self, kind=None) -> Stream:
        if self.busy:
            raise JournalBusy("the journal is being read")
        self._stream = Stream(self, kind)
        return self._stream
