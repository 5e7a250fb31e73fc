# wb-canary-f1ca18e2
import pytest

from plantconf import describe, layers, limits
from plantconf.settings import SettingMissing, Settings


def double_rate(settings):
    return settings.require("rate") * 2


SITE = Settings({"mode": None, "zero": 0, "limit.heat": None, "limit.load": 0, "feed": double_rate})
BASE = Settings({"mode": "auto", "zero": 5, "rate": 4, "feed": double_rate, "limit.feed": double_rate})


def test_resolve():
    assert layers.resolve([SITE, BASE], "zero") == 0
    assert layers.resolve([SITE, BASE], "rate") == 4
    assert layers.resolve([BASE, SITE], "feed") == 8
    assert layers.resolve([SITE, BASE], "other") is None
    assert layers.resolve([], "other", "x") == "x"


def test_resolve_off_is_an_answer():
    assert layers.resolve([SITE, BASE], "mode", "manual") is None
    assert layers.resolve([BASE, SITE], "mode", "manual") == "auto"


def test_merged_keeps_what_is_off():
    assert layers.merged([SITE, BASE], ["rate", "mode", "other", "zero"]) == {"rate": 4, "mode": None, "zero": 0}
    assert list(layers.merged([BASE], ["zero", "mode"])) == ["zero", "mode"]


def test_limit():
    assert limits.limit(SITE, "load", 7) == 0
    assert limits.limit(SITE, "flow") == limits.STANDARD == 100
    assert limits.limit(SITE, "flow", fallback=7) == 7
    assert limits.limit(SITE, "heat", 7) == float("inf")
    assert limits.limit(BASE, "feed") == 8


def test_within():
    assert limits.within(SITE, {"heat": 10 ** 9, "flow": 100, "load": 0}) is True
    assert limits.within(SITE, {"flow": 101}) is False
    assert limits.within(SITE, {"load": 1}) is False


def test_line():
    assert describe.line(SITE, "zero") == "zero = 0"
    assert describe.line(SITE, "mode") == "mode = off"
    assert describe.line(SITE, "rate") == "rate (not set)"
    assert describe.line(BASE, "feed") == "feed = 8"


def test_missing():
    assert describe.missing(SITE, ["rate", "mode", "zero", "other"]) == ["rate", "other"]
    assert describe.missing(BASE, ["feed"]) == []


@pytest.mark.parametrize("call", [
    lambda: layers.resolve([SITE, BASE], "feed", 3),
    lambda: layers.merged([SITE, BASE], ["zero", "feed"]),
    lambda: (describe.line(SITE, "feed"), describe.missing(SITE, ["feed"])),
], ids=["resolve", "merged", "describe"])
def test_fault_of_a_derived_setting(call):
    with pytest.raises(SettingMissing) as info:
        call()
    assert info.value.key == "rate"
    faulty = Settings({"limit.feed": double_rate})
    for check in (lambda: limits.limit(faulty, "feed"), lambda: limits.within(faulty, {"feed": 1}),
                  lambda: describe.missing(faulty, ["limit.feed"])):
        with pytest.raises(SettingMissing):
            check()
