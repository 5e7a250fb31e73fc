"""Things in the journal that something has to follow from."""
from fieldjournal.journal import Entry


def first_after(journal, day: int, kind=None):
    """The oldest entry of the day or a later one (None if there is none)."""
    for entry in reversed(journal.entries(kind)):
        if entry.day >= day:
            return entry
    return None


def remind(journal, today: int) -> int:
    """Write a reminder for each todo whose text no done entry has; gives how many.

    The reminders are written in the order of the todos, oldest first.
    """
    written = 0
    for todo in reversed(journal.entries("todo")):
        if not any(done.text == todo.text for done in journal.entries("done")):
            journal.append(Entry(today, "reminder", todo.text))
            written += 1
    return written
