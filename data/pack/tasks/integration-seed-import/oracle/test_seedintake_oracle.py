# wb-canary-d6d6652a
import pytest

from seedintake.importer import import_text
from seedintake.reader import read_lines
from seedintake.store import LotStore

HEAD = "lot;species;date;grams"


def run(*lines, store=None):
    return import_text("\n".join([HEAD, *lines]) + "\n", LotStore() if store is None else store)


@pytest.mark.parametrize("line, reason", [
    ("A1;rye;2024-05-01", "expected 4 cells, got 3"),
    (";rye;2024-05-01;5", "lot number missing"),
    ("A1;rye;2024-05-01;0", "bad weight '0'"),
    ("A1;rye;May;5", "bad date 'May'"),
])
def test_refused_by_the_lots(line, reason):
    summary = run(line)
    assert summary.accepted == 0
    assert summary.rejected == [(2, reason)]


def test_duplicates_are_rejected():
    store = LotStore()
    summary = run("A1;rye;2024-05-01;5", "A1;oat;2024-05-02;6", "A2;oat;2024-05-02;7", store=store)
    assert summary.text() == "2 accepted, 1 rejected\nline 3: lot A1 exists already"
    assert store.grams("oat") == 7


def test_lot_already_in_the_store():
    store = LotStore()
    run("A1;rye;2024-05-01;5", store=store)
    assert run("A1;rye;2024-05-01;5", store=store).rejected == [(2, "lot A1 exists already")]


def test_blank_lines_count():
    summary = run("", "A1;rye;2024-05-01;5", "   ", "", "A1;rye;2024-05-01;5", "x")
    assert summary.accepted == 1
    assert summary.rejected == [(6, "lot A1 exists already"), (7, "expected 4 cells, got 1")]


def test_reader_numbers_lines_as_an_editor_does():
    text = HEAD + "\nA;b;c;d\n\nE;f;g;h\n"
    assert list(read_lines(text)) == [(2, ["A", "b", "c", "d"]), (4, ["E", "f", "g", "h"])]


def test_other_errors_stop_the_import():
    class FullStore(LotStore):
        def add(self, lot):
            if lot.number == "A2":
                raise OSError("disk full")
            super().add(lot)

    store = FullStore()
    with pytest.raises(OSError, match="disk full"):
        run("A1;rye;2024-05-01;5", "A2;rye;2024-05-01;5", "A3;rye;2024-05-01;5", store=store)
    assert store.numbers() == ["A1"]


def test_programming_errors_are_seen():
    with pytest.raises(AttributeError):
        run("A1;rye;2024-05-01;5", store=object())


@pytest.mark.parametrize("text", ["", HEAD, HEAD + "\n\n"])
def test_nothing_to_import(text):
    assert import_text(text, LotStore()).text() == "0 accepted, 0 rejected"
