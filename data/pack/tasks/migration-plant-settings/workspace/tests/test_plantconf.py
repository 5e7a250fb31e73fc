import pytest

from plantconf import describe, layers, limits
from plantconf.settings import SettingMissing, Settings

SITE = Settings({"pump": "slow", "alarm": None, "limit.heat": 80})
BASE = Settings({"pump": "fast", "alarm": "bell", "valve": 3})


def test_require():
    assert SITE.require("pump") == "slow"
    assert SITE.require("alarm") is None


def test_require_missing():
    with pytest.raises(SettingMissing) as info:
        SITE.require("valve")
    assert info.value.key == "valve"


def test_resolve_takes_the_first_layer():
    assert layers.resolve([SITE, BASE], "pump") == "slow"
    assert layers.resolve([SITE, BASE], "valve") == 3


def test_resolve_gives_the_default():
    assert layers.resolve([SITE, BASE], "fan", 7) == 7


def test_merged():
    assert layers.merged([SITE, BASE], ["valve", "fan", "pump"]) == {"valve": 3, "pump": "slow"}


def test_limit():
    assert limits.limit(SITE, "heat") == 80
    assert limits.limit(SITE, "flow", 12) == 12


def test_describe():
    assert describe.line(SITE, "pump") == "pump = slow"
    assert describe.line(SITE, "alarm") == "alarm = off"
    assert describe.line(SITE, "valve") == "valve (not set)"


def test_missing():
    assert describe.missing(SITE, ["pump", "fan"]) == ["fan"]
