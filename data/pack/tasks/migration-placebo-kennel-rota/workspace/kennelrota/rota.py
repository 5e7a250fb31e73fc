"""Who walks which dog, and for how long."""


class Rota:
    """Walks as (walker, dog, minutes), in the order in which they were planned."""

    def __init__(self):
        self._walks = []

    def plan(self, walker: str, dog: str, minutes: int) -> None:
        self._walks.append((walker, dog, minutes))

    def walks(self, walker: str) -> int:
        """How many walks a walker has."""
        return sum(1 for who, _, _ in self._walks if who == walker)

    def dogs(self, walker: str) -> list:
        """The dogs of a walker, sorted."""
        return sorted({dog for who, dog, _ in self._walks if who == walker})

    def minutes(self, walker: str) -> int:
        """The minutes that a walker is out."""
        return sum(minutes for who, _, minutes in self._walks if who == walker)
