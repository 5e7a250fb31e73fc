"""Things in the journal that something has to follow from."""
from fieldjournal.journal import Entry


def first_after(journal, day: int, kind=None):
    """The oldest entry of the day or a later one (None if there is none)."""
    stream = journal.stream(kind)
    stream = list(stream)
    try:
        for entry in stream:
            if entry.day >= day:
                return entry
        return None
    finally:
        del stream


def remind(journal, today: int) -> int:
    """Write a reminder for each todo whose text no done entry has; gives how many.

    The reminders are written in the order of the todos, oldest first.
    """
    todos = [entry.text for entry in journal.stream("todo")]
    done = {entry.text for entry in journal.stream("done")}
    left = [text for text in todos if text not in done]
    for text in left:
        journal.append(Entry(today, "reminder", text))
    return len(left)
