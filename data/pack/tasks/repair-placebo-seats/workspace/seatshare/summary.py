"""The result as text."""

from collections.abc import Mapping

from seatshare.highest import share_seats


def summarize(votes: Mapping[str, int], seats: int) -> str:
    """One line a list, the strongest first."""
    shares = share_seats(votes, seats)
    ranked = sorted(shares, key=lambda name: (-shares[name], -votes[name], name))
    return "\n".join(f"{name}: {shares[name]}" for name in ranked)
