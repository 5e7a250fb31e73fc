"""The board as text."""

from heatboard.placings import Result, rank_results


def render(results: list[Result]) -> str:
    """One line for each placing, columns aligned."""
    placings = rank_results(results)
    width = max((len(placing.name) for placing in placings), default=0)
    return "\n".join(
        f"{placing.rank:>3}  {placing.name:<{width}}  {placing.points}"
        for placing in placings
    )
