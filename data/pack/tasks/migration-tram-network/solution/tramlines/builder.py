"""Putting a network together."""


def add_line(network, stops: list, minutes: int) -> None:
    """A line through the stops, served in both directions, with equal times between stops."""
    for here, there in zip(stops, stops[1:]):
        network.connect(here, there, minutes=minutes, both_ways=True)


def add_loop(network, stops: list, minutes: int) -> None:
    """A loop through the stops and back to the first one, served in this direction only."""
    for here, there in zip(stops, stops[1:] + stops[:1]):
        network.connect(here, there, minutes=minutes)
