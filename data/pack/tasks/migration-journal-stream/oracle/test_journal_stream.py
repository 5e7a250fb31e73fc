# wb-canary-61144ec4
import pytest

from fieldjournal import digest, followup, pager
from fieldjournal.journal import Entry, Journal


@pytest.fixture
def journal():
    return Journal([
        Entry(2, "todo", "boat"),
        Entry(3, "note", "fog"),
        Entry(3, "todo", "rope"),
        Entry(6, "done", "rope"),
        Entry(7, "todo", "lamp"),
        Entry(9, "note", "calm"),
        Entry(9, "note", "seals"),
    ])


def test_digest(journal):
    assert digest.digest(journal) == {"number": 7, "newest": "seals", "oldest": "boat"}
    assert digest.digest(journal, "todo") == {"number": 3, "newest": "lamp", "oldest": "boat"}
    assert digest.digest(journal, "done") == {"number": 1, "newest": "rope", "oldest": "rope"}
    assert journal.busy is False


def test_digest_of_nothing(journal):
    nothing = {"number": 0, "newest": None, "oldest": None}
    assert digest.digest(journal, "photo") == nothing
    assert digest.digest(Journal()) == nothing


def test_share(journal):
    assert digest.share(journal, "note") == pytest.approx(3 / 7)
    assert digest.share(journal, "photo") == 0.0
    assert digest.share(Journal(), "note") == 0.0
    assert journal.busy is False


def test_pages_are_newest_first(journal):
    texts = [[entry.text for entry in pager.page(journal, number, 3)] for number in (1, 2, 3, 4)]
    assert texts == [["seals", "calm", "lamp"], ["rope", "rope", "fog"], ["boat"], []]
    assert [entry.text for entry in pager.page(journal, 2, 2, "todo")] == ["boat"]
    assert journal.busy is False


def test_page_is_a_list_and_counts_from_one(journal):
    assert type(pager.page(journal, 1, 2, kind="note")) is list
    with pytest.raises(ValueError):
        pager.page(journal, 0, 3)
    assert journal.busy is False


def test_page_count(journal):
    assert [pager.page_count(journal, size) for size in (1, 3, 7, 8)] == [7, 3, 1, 1]
    assert pager.page_count(journal, 2, "note") == 2
    assert pager.page_count(Journal(), 5) == 0
    assert journal.busy is False


def test_first_after(journal):
    assert followup.first_after(journal, 3) == Entry(3, "note", "fog")
    assert journal.busy is False
    assert followup.first_after(journal, 4, "todo") == Entry(7, "todo", "lamp")
    assert followup.first_after(journal, 10) is None
    assert journal.busy is False


def test_first_after_reads_no_further(journal):
    followup.first_after(journal, 3)
    assert journal.entries_read == 2


def test_remind(journal):
    assert followup.remind(journal, 12) == 2
    assert list(journal.stream("reminder")) == [Entry(12, "reminder", "boat"), Entry(12, "reminder", "lamp")]
    assert followup.remind(Journal(), 12) == 0


def test_remind_leaves_the_journal_free(journal):
    followup.remind(journal, 12)
    journal.append(Entry(13, "done", "lamp"))
    assert followup.remind(journal, 14) == 1
    assert journal.busy is False
