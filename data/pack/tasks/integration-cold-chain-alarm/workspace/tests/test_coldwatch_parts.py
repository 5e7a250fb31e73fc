from coldwatch.limits import Limits
from coldwatch.monitor import Monitor
from coldwatch.samples import Sample, parse_sample
from coldwatch.streaks import StreakCounter


def test_sample_is_read():
    assert parse_sample("t1 84") == Sample("t1", 84)
    assert parse_sample("t1 -5").celsius == -0.5


def test_limits_include_their_ends():
    limits = Limits(2, 8)
    assert limits.contains(2) and limits.contains(8)
    assert not limits.contains(8.1)


def test_streaks_per_probe():
    streaks = StreakCounter()
    assert [streaks.feed("a", True), streaks.feed("b", True), streaks.feed("a", True)] == [1, 1, 2]
    assert streaks.feed("a", False) == 0


def test_monitor_without_samples():
    assert Monitor(Limits(2, 8), 2).run([]) == []
