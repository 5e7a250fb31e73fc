"""Loans that should have come back."""


def rows(register, today: int) -> list:
    """A row for each overdue loan, the longest overdue first."""
    late = [loan for loan in register.open_loans() if loan.due < today]
    late.sort(key=lambda loan: (loan.due, loan.borrower))
    return [
        {"borrower": loan.borrower, "book": loan.book, "days": today - loan.due, "count": loan.count}
        for loan in late
    ]


def blocked(register, today: int, allowed: int = 14) -> list:
    """Who has a loan that is overdue by more than the allowed days, sorted."""
    return sorted({loan.borrower for loan in register.open_loans() if today - loan.due > allowed})
