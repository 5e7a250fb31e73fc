"""What happens at the lending desk."""
from lendhall.register import Loan

PERIOD = 28
MAX_RENEWALS = 2


class Refused(Exception):
    """The desk can't do what was asked for."""


def find(register, book: str):
    """The open loan of a book, or None."""
    for loan in register.open_loans():
        if loan.book == book:
            return loan
    return None


def lend(register, borrower: str, book: str, today: int) -> Loan:
    """Lend a book for the usual period."""
    if find(register, book) is not None:
        raise Refused(f"{book} is lent already")
    loan = Loan(borrower=borrower, book=book, due=today + PERIOD)
    register.enter(loan)
    return loan


def renew(register, book: str, today: int) -> int:
    """Renew a loan, twice at most and not when overdue; gives the new due day."""
    loan = find(register, book)
    if loan is None:
        raise Refused(f"{book} is not lent")
    if loan.count >= MAX_RENEWALS or loan.due < today:
        raise Refused(f"{book} can't be renewed")
    loan.due = max(loan.due, today + PERIOD)
    loan.count += 1
    return loan.due
