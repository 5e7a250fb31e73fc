# wb-canary-49613f42
import pytest

from coldwatch.digest import digest
from coldwatch.limits import Limits
from coldwatch.monitor import Monitor


@pytest.mark.parametrize("tenths, alarm", [
    (20, False), (19, True), (80, False), (81, True), (50, False), (-30, True), (85, True), (15, True),
])
def test_single_sample(tenths, alarm):
    assert Monitor(Limits(2, 8), 1).run([f"t1 {tenths}"]) == (["t1"] if alarm else [])


def test_streak_must_be_unbroken():
    monitor = Monitor(Limits(2, 8), 3)
    assert monitor.run(["a 90", "a 90", "a 50", "a 90", "a 90"]) == []
    assert monitor.run(["a 90", "a 90", "a 90", "a 90"]) == ["a"]


def test_second_streak_is_named_again():
    lines = ["a 90", "b 10", "a 90", "a 50", "b 10", "a 90", "a 90"]
    assert Monitor(Limits(2, 8), 2).run(lines) == ["a", "b", "a"]


def test_runs_of_one_monitor_are_separate():
    monitor = Monitor(Limits(2, 8), 2)
    assert monitor.run(["a 90"]) == []
    assert monitor.run(["a 90"]) == []
    assert monitor.run(["a 90", "a 90"]) == ["a"]
    assert monitor.run(["a 90", "a 50"]) == []


def test_streak_going_on_does_not_hide_a_new_one():
    monitor = Monitor(Limits(2, 8), 2)
    assert monitor.run(["a 90", "a 90", "a 90"]) == ["a"]
    assert monitor.run(["a 90", "a 90", "a 90"]) == ["a"]


def test_digest_of_a_day():
    deliveries = {
        "d1": ["t1 84", "t2 40", "t1 86"],
        "d2": ["t1 81", "t2 40"],
        "d3": ["t2 -10", "t2 -20", "t1 90", "t1 90"],
    }
    assert digest(deliveries, Limits(2, 8), 2) == {"d1": ["t1"], "d3": ["t2", "t1"]}


def test_limits_below_zero():
    assert digest({"d": ["f -180", "f -175"], "e": ["f -181"]}, Limits(-25, -18), 1) == {"d": ["f"]}
