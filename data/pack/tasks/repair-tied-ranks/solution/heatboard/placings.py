"""Ranking of results."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """What one competitor scored."""

    name: str
    points: int


@dataclass(frozen=True)
class Placing:
    """A row of the board."""

    rank: int
    name: str
    points: int


def _board_order(result: Result) -> tuple[int, str]:
    return (-result.points, result.name)


def rank_results(results: list[Result]) -> list[Placing]:
    """The board, best first; equal points share a rank."""
    scores: list[int] = []
    placings: list[Placing] = []
    rank = 0
    for result in sorted(results, key=_board_order):
        if result.points not in scores:
            rank = len(placings) + 1
            scores.append(result.points)
        placings.append(Placing(rank, result.name, result.points))
    return placings


def medallists(results: list[Result]) -> list[str]:
    """Names of all who are on the podium, best first."""
    return [placing.name for placing in rank_results(results) if placing.rank <= 3]


def best_rank(results: list[Result], name: str) -> int:
    """The best rank that somebody of this name got."""
    ranks = [placing.rank for placing in rank_results(results) if placing.name == name]
    if not ranks:
        raise KeyError(name)
    return min(ranks)
