"""The register of what is lent. Days are plain day numbers."""
from dataclasses import dataclass


@dataclass
class Loan:
    """One item lent to one patron."""

    patron: str
    item: str
    due_day: int
    renewals: int = 0


class Register:
    """All open loans, in the order in which they were made."""

    def __init__(self):
        self._loans = []

    def enter(self, loan: Loan) -> None:
        self._loans.append(loan)

    def strike(self, loan: Loan) -> None:
        self._loans.remove(loan)

    def open_loans(self) -> list:
        return list(self._loans)
