import pytest

from kerbfee.daybook import day_total
from kerbfee.tariff import fee
from kerbfee.tickets import Ticket, parse_ticket


def test_ticket_is_read():
    assert parse_ticket("B-12 08:05 09:00") == Ticket("B-12", 485, 540)
    with pytest.raises(ValueError):
        parse_ticket("B-12 08:05 07:00")


def test_fee_of_a_stay():
    assert [fee(0), fee(1), fee(30), fee(31), fee(1000)] == [0, 50, 50, 100, 1200]


def test_day_without_cars():
    assert day_total([]) == 0


def test_three_cars_for_an_hour():
    assert day_total(["A 08:00 09:00", "B 08:30 09:30", "C 10:00 11:00"]) == 300
