# wb-canary-d9ed143d
import pytest

from hotshelf import forecasts, stations, sweeper
from hotshelf.shelf import Shelf


class Clock:
    def __init__(self):
        self.minutes = 0.0

    def __call__(self):
        return self.minutes


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def shelf(clock):
    return Shelf(clock)


def test_forecast_is_computed_once(shelf, clock):
    calls = []
    for minutes in (0, 7, 14.5):
        clock.minutes = minutes
        assert forecasts.forecast(shelf, "Bergen", lambda place: calls.append(place) or "rain") == "rain"
    assert calls == ["Bergen"]


def test_forecast_expires_after_900_seconds(shelf, clock):
    forecasts.forecast(shelf, "Bergen", lambda place: "rain")
    clock.minutes = 15
    assert forecasts.forecast(shelf, "Bergen", lambda place: "sun") == "sun"


def test_constants_keep_their_meaning():
    assert forecasts.KEEP_SECONDS == 900


def test_stale(shelf, clock):
    assert forecasts.stale(shelf, "Bergen", 600) is True
    forecasts.forecast(shelf, "Bergen", lambda place: "rain")
    clock.minutes = 2
    assert forecasts.stale(shelf, "Bergen", 120) is False
    assert forecasts.stale(shelf, "Bergen", 119) is True
    assert forecasts.stale(shelf, "Bergen", 3) is True


def test_silent(shelf, clock):
    stations.report(shelf, "fjord", 4.0)
    stations.report(shelf, "hill", 2.0, interval=15)
    clock.minutes = 0.25
    assert stations.silent(shelf, ["fjord", "hill", "isle"]) == ["isle"]
    clock.minutes = 0.5
    assert stations.silent(shelf, ["fjord", "hill", "isle"]) == ["hill", "isle"]
    clock.minutes = 2
    assert stations.silent(shelf, ["fjord"]) == ["fjord"]


def test_newest_age_is_in_seconds(shelf, clock):
    assert stations.newest_age(shelf, ["fjord", "hill"]) is None
    stations.report(shelf, "fjord", 4.0)
    clock.minutes = 0.5
    stations.report(shelf, "hill", 2.0)
    clock.minutes = 0.75
    assert stations.newest_age(shelf, ["fjord", "hill", "isle"]) == pytest.approx(15)
    assert stations.newest_age(shelf, ["fjord"]) == pytest.approx(45)


def test_sweep_counts(shelf):
    for key in ("a:1", "a:2", "b:1"):
        shelf.store(key, 1, max_age=1)
    assert sweeper.sweep(shelf, ["a:", "c:"]) == {"a:": 2, "c:": 0}
    assert shelf.fetch("b:1") == 1


def test_reset_counts(shelf):
    for key in ("a:1", "a:2", "b:1"):
        shelf.store(key, 1, max_age=1)
    assert sweeper.reset(shelf) == "3 dropped"
    assert sweeper.reset(shelf) == "nothing to drop"
