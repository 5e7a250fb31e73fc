"""What a stay costs."""

HALF_HOUR = 50
MOST = 1200


def fee(minutes: int) -> int:
    """Cents for a stay of so many minutes."""
    begun = -(-minutes // 30)
    return min(begun * HALF_HOUR, MOST)
