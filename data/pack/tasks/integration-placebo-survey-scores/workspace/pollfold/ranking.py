"""The best talks."""
from pollfold.scores import add_up
from pollfold.slips import read_slips

SHOWN = 3


def best_scores(text: str) -> list[int]:
    """Scores of the best talks, the best first."""
    scores = add_up(read_slips(text))
    return sorted(scores.values())[:SHOWN]
