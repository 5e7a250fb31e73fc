"""Points of each talk."""
from collections import Counter


def add_up(slips) -> Counter:
    """Sum of the points for each talk."""
    scores = Counter()
    for talk, points in slips:
        scores[talk] += points
    return scores
