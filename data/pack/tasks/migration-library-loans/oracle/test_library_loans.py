# wb-canary-b617c2b2
import pytest

from lendhall import desk, notices, overdue
from lendhall.register import Loan, Register


@pytest.fixture
def register():
    register = Register()
    register.enter(Loan("olaf", "Moths", 20, 2))
    register.enter(Loan("nele", "Ferns", 20))
    register.enter(Loan("olaf", "Reeds", 3, 1))
    return register


def test_lend(register):
    loan = desk.lend(register, borrower="jan", book="Mosses", today=5)
    assert loan == Loan("jan", "Mosses", 33, 0)
    assert register.open_loans()[-1] is loan
    with pytest.raises(desk.Refused):
        desk.lend(register, "nele", "Mosses", 6)


def test_find(register):
    assert desk.find(register, "Ferns").patron == "nele"
    assert desk.find(register, "Dunes") is None


def test_renew(register):
    assert desk.renew(register, book="Ferns", today=15) == 43
    loan = desk.find(register, "Ferns")
    assert (loan.due_day, loan.renewals) == (43, 1)


@pytest.mark.parametrize("book, today", [("Moths", 10), ("Reeds", 4), ("Dunes", 1)])
def test_renew_refused(register, book, today):
    with pytest.raises(desk.Refused):
        desk.renew(register, book, today)


def test_overdue_rows_keep_their_keys(register):
    assert overdue.rows(register, 21) == [
        {"borrower": "olaf", "book": "Reeds", "days": 18, "count": 1},
        {"borrower": "nele", "book": "Ferns", "days": 1, "count": 0},
        {"borrower": "olaf", "book": "Moths", "days": 1, "count": 2},
    ]
    assert overdue.rows(register, 3) == []


def test_blocked(register):
    assert overdue.blocked(register, 17) == []
    assert overdue.blocked(register, 18) == ["olaf"]
    assert overdue.blocked(register, 25, allowed=4) == ["nele", "olaf"]


def test_notices_keep_their_keys(register):
    assert notices.build(register, 18) == [
        {"borrower": "olaf", "book": "Moths", "due": 20, "last": True},
        {"borrower": "nele", "book": "Ferns", "due": 20, "last": False},
    ]
    assert notices.build(register, 3, ahead=0) == [
        {"borrower": "olaf", "book": "Reeds", "due": 3, "last": False},
    ]


def test_by_borrower(register):
    assert notices.by_borrower(register) == {"olaf": ["Moths", "Reeds"], "nele": ["Ferns"]}
