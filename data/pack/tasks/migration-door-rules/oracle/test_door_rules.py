# wb-canary-a24225a7
import pytest

from badgedoors import audit, doors, visitors
from badgedoors.rules import Denied, RuleBook


@pytest.fixture
def book():
    book = RuleBook()
    for badge, area in [("kim", "yard"), ("kim", "vault"), ("lou", "yard"), ("max", "hall")]:
        book.grant(badge, area)
    return book


def test_open_door(book):
    log = []
    doors.open_door(book, "kim", "vault", log)
    assert log == [("kim", "vault")]
    with pytest.raises(Denied):
        doors.open_door(book, "lou", "vault", log)
    assert log == [("kim", "vault")]


def test_first_open(book):
    assert doors.first_open(book, "lou", ["vault", "hall", "yard"]) == "yard"
    assert doors.first_open(book, "max", ["vault", "yard"]) is None


def test_walk(book):
    log = []
    assert doors.walk(book, "kim", ["yard", "vault", "hall", "yard"], log) == 2
    assert log == [("kim", "yard"), ("kim", "vault")]
    assert doors.walk(book, "lou", ["yard"], []) == 1
    assert doors.walk(book, "max", ["yard"], []) == 0


def test_escort(book):
    visitors.escort(book, "kim", "guest", "vault")
    assert book.holders("vault") == ["guest", "kim"]


def test_escort_needs_the_hosts_right(book):
    with pytest.raises(Denied):
        visitors.escort(book, "lou", "guest", "vault")
    assert book.holders("vault") == ["kim"]


def test_shared(book):
    assert visitors.shared(book, "kim", "lou", ["hall", "vault", "yard"]) == ["yard"]
    assert visitors.shared(book, "kim", "max", ["hall", "vault", "yard"]) == []


def test_end_visit(book):
    assert visitors.end_visit(book, "kim", ["hall", "yard", "vault"]) == 2
    assert book.holders("yard") == ["lou"]
    assert visitors.end_visit(book, "kim", ["yard"]) == 0


def test_overview(book):
    assert audit.orphans(book, ["yard", "attic", "hall"]) == ["attic"]
    assert audit.matrix(book, ["kim", "max"], ["hall", "yard"]) == {"kim": [False, True], "max": [True, False]}


def test_hand_over(book):
    audit.hand_over(book, "kim", "zoe", ["yard", "vault"])
    assert book.holders("yard") == ["lou", "zoe"]
    assert book.holders("vault") == ["zoe"]


def test_hand_over_is_all_or_nothing(book):
    with pytest.raises(Denied):
        audit.hand_over(book, "kim", "zoe", ["yard", "hall"])
    assert book.holders("yard") == ["kim", "lou"]
    assert book.holders("hall") == ["max"]
