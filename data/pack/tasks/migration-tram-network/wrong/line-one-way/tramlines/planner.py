"""Questions that riders ask."""


def nearest(network, origin: str, candidates: list):
    """The candidate that is reached soonest from the origin (None if there is none; a tie goes to the first)."""
    best, best_time = None, None
    for stop in candidates:
        time = network.travel_minutes(stop, origin)
        if time is not None and (best_time is None or time < best_time):
            best, best_time = stop, time
    return best


def round_trip(network, origin: str, destination: str):
    """Minutes there and back again; None if one of the two isn't possible."""
    there = network.travel_minutes(destination, origin)
    back = network.travel_minutes(origin, destination)
    if there is None or back is None:
        return None
    return there + back


def cut_off(network, centre: str) -> list:
    """The stops from which the centre can't be reached, sorted."""
    return [stop for stop in network.stops() if network.travel_minutes(centre, stop) is None]
