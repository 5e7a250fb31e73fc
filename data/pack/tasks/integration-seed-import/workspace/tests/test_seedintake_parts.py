import pytest

from datetime import date

from seedintake.lots import Lot, to_lot
from seedintake.reader import read_lines
from seedintake.store import DuplicateLot, LotStore
from seedintake.summary import Summary


def test_reader_gives_the_cells():
    text = "lot;species;date;grams\nA1; rye ;2024-05-01;20\n\nA2;oat;2024-05-02;30\n"
    assert [cells[0] for _, cells in read_lines(text)] == ["A1", "A2"]


def test_lot_of_cells():
    assert to_lot(["A1", "rye", "2024-05-01", "20"]) == Lot("A1", "rye", date(2024, 5, 1), 20)
    with pytest.raises(ValueError):
        to_lot(["A1", "rye", "2024-05-01", "few"])


def test_store_refuses_duplicates():
    store = LotStore()
    lot = to_lot(["A1", "rye", "2024-05-01", "20"])
    store.add(lot)
    with pytest.raises(DuplicateLot):
        store.add(lot)
    assert store.grams("rye") == 20


def test_summary_as_text():
    summary = Summary(3)
    summary.reject(7, "no good")
    assert summary.text() == "3 accepted, 1 rejected\nline 7: no good"
