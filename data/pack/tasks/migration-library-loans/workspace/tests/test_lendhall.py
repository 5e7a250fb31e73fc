import pytest

from lendhall import desk, notices, overdue
from lendhall.register import Loan, Register


def make_register():
    register = Register()
    register.enter(Loan("ida", "Atlas", 10))
    register.enter(Loan("tom", "Birds", 4, 1))
    return register


def test_register_keeps_the_order():
    assert [loan.item for loan in make_register().open_loans()] == ["Atlas", "Birds"]


def test_strike():
    register = make_register()
    register.strike(register.open_loans()[0])
    assert [loan.patron for loan in register.open_loans()] == ["tom"]


def test_lend_enters_a_loan():
    register = make_register()
    desk.lend(register, "eve", "Clouds", 1)
    assert register.open_loans()[-1] == Loan("eve", "Clouds", 29, 0)


def test_lend_refuses_what_is_lent():
    with pytest.raises(desk.Refused):
        desk.lend(make_register(), "eve", "Birds", 1)


def test_renew_moves_the_due_day():
    assert desk.renew(make_register(), "Birds", 3) == 31


def test_overdue_days():
    assert [row["days"] for row in overdue.rows(make_register(), 12)] == [8, 2]


def test_notices_before_the_due_day():
    assert len(notices.build(make_register(), 3)) == 1
