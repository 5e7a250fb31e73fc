"""The method of highest averages."""

from collections.abc import Mapping


def average(votes: int, seats: int) -> float:
    """The average of a list that has ``seats`` seats so far."""
    return votes / (seats // 2 + 1)


def share_seats(votes: Mapping[str, int], seats: int) -> dict[str, int]:
    """How many seats each list gets."""
    if seats < 0 or any(count < 0 for count in votes.values()):
        raise ValueError("votes and seats must not be negative")
    shares = {name: 0 for name in votes}
    running = sorted(name for name, count in votes.items() if count)
    for _ in range(seats if running else 0):
        best = min(
            running,
            key=lambda name: (-average(votes[name], shares[name]), -votes[name], name),
        )
        shares[best] += 1
    return shares
