from seedintake.importer import import_text
from seedintake.store import LotStore

HEAD = "lot;species;date;grams\n"


def test_clean_list():
    store = LotStore()
    summary = import_text(HEAD + "A1;rye;2024-05-01;20\nA2;rye;2024-05-01;5\n", store)
    assert summary.text() == "2 accepted, 0 rejected"
    assert store.grams("rye") == 25


def test_bad_line_is_told():
    store = LotStore()
    summary = import_text(HEAD + "A1;rye;2024-05-01;20\nA2;rye;2024-05-01;few\nA3;oat;2024-05-01;9\n", store)
    assert store.numbers() == ["A1", "A3"]
    assert summary.text() == "2 accepted, 1 rejected\nline 3: bad weight 'few'"
