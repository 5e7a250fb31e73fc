import pytest

from badgedoors import audit, doors, visitors
from badgedoors.rules import Denied, RuleBook


def make_book():
    book = RuleBook()
    book.grant("b1", "lab")
    book.grant("b1", "roof")
    book.grant("b2", "lab")
    return book


def test_rule_book():
    book = make_book()
    assert book.check("b1", "roof") is True
    assert book.check("b2", "roof") is False
    assert book.holders("lab") == ["b1", "b2"]


def test_require():
    with pytest.raises(Denied):
        make_book().require("b2", "roof")


def test_door_stays_closed():
    log = []
    with pytest.raises(Denied):
        doors.open_door(make_book(), "b2", "roof", log)
    assert log == []


def test_first_open():
    assert doors.first_open(make_book(), "b2", ["roof", "lab"]) == "lab"


def test_escort():
    book = make_book()
    visitors.escort(book, "b1", "guest", "roof")
    assert book.holders("roof") == ["b1", "guest"]


def test_shared_areas():
    assert visitors.shared(make_book(), "b1", "b2", ["lab", "roof"]) == ["lab"]


def test_orphans():
    assert audit.orphans(make_book(), ["lab", "attic"]) == ["attic"]


def test_hand_over():
    book = make_book()
    audit.hand_over(book, "b1", "b3", ["roof"])
    assert book.holders("roof") == ["b3"]
