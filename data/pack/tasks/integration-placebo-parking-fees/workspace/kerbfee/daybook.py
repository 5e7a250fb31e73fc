"""Takings of a day."""
from kerbfee.tariff import fee
from kerbfee.tickets import parse_ticket


def day_total(lines: list[str]) -> int:
    """Cents taken for all tickets of a day."""
    tickets = [parse_ticket(line) for line in lines]
    return sum(fee(ticket.hours) for ticket in tickets)
