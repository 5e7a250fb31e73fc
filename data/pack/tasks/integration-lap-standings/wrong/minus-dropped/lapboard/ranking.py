"""Order and places."""


def rank_key(tally):
    """Sort key of a tally."""
    return (tally.laps, tally.seconds, tally.bib)


def assign_places(ordered) -> list:
    """Pair each tally with its place; equal results share one."""
    placed = []
    for number, tally in enumerate(ordered, start=1):
        if placed:
            place, before = placed[-1]
            if (before.laps, before.seconds) == (tally.laps, tally.seconds):
                number = place
        placed.append((number, tally))
    return placed


def rank(tallies: list) -> list:
    """Pairs of place and tally, the best first."""
    ordered = sorted(tallies, key=rank_key, reverse=True)
    return assign_places(ordered)
