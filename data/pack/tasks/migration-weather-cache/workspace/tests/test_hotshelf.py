from hotshelf import forecasts, stations, sweeper
from hotshelf.shelf import Shelf


class Clock:
    minutes = 100.0

    def __call__(self):
        return self.minutes


def test_shelf_forgets_after_max_age():
    clock = Clock()
    shelf = Shelf(clock)
    shelf.store("a", 1, max_age=2)
    clock.minutes += 1.5
    assert shelf.fetch("a") == 1
    assert shelf.age("a") == 1.5
    clock.minutes += 0.5
    assert shelf.fetch("a") is None


def test_evict_gives_keys():
    shelf = Shelf(Clock())
    shelf.store("x:2", 1, max_age=2)
    shelf.store("x:1", 1, max_age=2)
    assert shelf.evict("x:") == ["x:1", "x:2"]


def test_forecast_comes_from_the_shelf():
    shelf = Shelf(Clock())
    assert forecasts.forecast(shelf, "Oslo", len) == 4
    assert forecasts.forecast(shelf, "Oslo", None) == 4


def test_forecast_is_kept_for_a_quarter_of_an_hour():
    clock = Clock()
    shelf = Shelf(clock)
    forecasts.forecast(shelf, "Oslo", len)
    clock.minutes += 20
    assert forecasts.forecast(shelf, "Oslo", str.upper) == "OSLO"


def test_silent_stations():
    shelf = Shelf(Clock())
    stations.report(shelf, "s1", 3.5)
    assert stations.silent(shelf, ["s1", "s2"]) == ["s2"]


def test_reset():
    shelf = Shelf(Clock())
    assert sweeper.reset(shelf) == "nothing to drop"
