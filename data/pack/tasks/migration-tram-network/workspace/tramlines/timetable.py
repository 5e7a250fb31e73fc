"""Times at stops, in minutes after midnight."""


def arrivals(network, origin: str, departure: int) -> dict:
    """When each stop is reached at the earliest by one who starts at the origin."""
    result = {}
    for stop in network.all_stops():
        minutes = network.shortest(origin, stop)
        if minutes is not None:
            result[stop] = departure + minutes
    return result


def leave_by(network, origin: str, destination: str, arrival: int):
    """The latest departure at the origin so as to be at the destination in time; None without a way."""
    minutes = network.shortest(origin, destination)
    return None if minutes is None else arrival - minutes
