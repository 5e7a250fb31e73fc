"""Reminders sent before the due day."""


def build(register, today: int, ahead: int = 3) -> list:
    """A notice for each loan that is due today or in the next days."""
    notices = []
    for loan in register.open_loans():
        left = loan.due_day - today
        if 0 <= left <= ahead:
            notices.append({"borrower": loan.patron, "book": loan.item, "due": loan.due_day,
                            "last": loan.renewals >= 2})
    return notices


def by_borrower(register) -> dict:
    """The books each one has, by borrower."""
    result = {}
    for loan in register.open_loans():
        result.setdefault(loan.patron, []).append(loan.item)
    return result
