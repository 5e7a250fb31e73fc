import pytest

from fieldjournal import digest, followup, pager
from fieldjournal.journal import Entry, Journal, JournalBusy


def make_journal():
    return Journal([
        Entry(1, "note", "rain"),
        Entry(2, "todo", "mend net"),
        Entry(3, "note", "two owls"),
        Entry(5, "done", "mend net"),
    ])


def test_stream_is_oldest_first():
    assert [entry.day for entry in make_journal().stream("note")] == [1, 3]


def test_only_one_stream():
    journal = make_journal()
    stream = journal.stream()
    with pytest.raises(JournalBusy):
        journal.stream()
    stream.close()
    assert journal.busy is False


def test_digest():
    assert digest.digest(make_journal(), "note") == {"number": 2, "newest": "two owls", "oldest": "rain"}


def test_share():
    assert digest.share(make_journal(), "note") == 0.5


def test_first_page():
    assert [entry.day for entry in pager.page(make_journal(), 1, 3)] == [5, 3, 2]


def test_page_count():
    assert pager.page_count(make_journal(), 3) == 2


def test_first_after():
    assert followup.first_after(make_journal(), 3).text == "two owls"


def test_nothing_to_remind_of():
    assert followup.remind(make_journal(), 9) == 0
