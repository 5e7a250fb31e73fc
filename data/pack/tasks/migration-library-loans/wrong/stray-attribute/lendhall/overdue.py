"""Loans that should have come back."""


def rows(register, today: int) -> list:
    """A row for each overdue loan, the longest overdue first."""
    late = [loan for loan in register.open_loans() if loan.due_day < today]
    late.sort(key=lambda loan: (loan.due_day, loan.patron))
    return [
        {"borrower": loan.patron, "book": loan.item, "days": today - loan.due_day, "count": loan.renewals}
        for loan in late
    ]


def blocked(register, today: int, allowed: int = 14) -> list:
    """Who has a loan that is overdue by more than the allowed days, sorted."""
    return sorted({loan.patron for loan in register.open_loans() if today - loan.due_day > allowed})
