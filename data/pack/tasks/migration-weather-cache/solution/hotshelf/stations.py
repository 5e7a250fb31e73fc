"""Readings of weather stations."""


def report(shelf, station: str, reading: float, interval: int = 60) -> None:
    """Keep a reading until two intervals (seconds) of the station have gone by."""
    shelf.store("station:" + station, reading, max_age=2 * interval / 60)


def silent(shelf, stations: list) -> list:
    """The stations from which there is no current reading."""
    return [station for station in stations if shelf.fetch("station:" + station) is None]


def newest_age(shelf, stations: list):
    """Seconds since the newest of the readings; None if there is no current one."""
    ages = [shelf.age("station:" + station) for station in stations]
    return min((age * 60 for age in ages if age is not None), default=None)
