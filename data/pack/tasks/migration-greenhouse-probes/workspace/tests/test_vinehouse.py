from vinehouse import daily, vents, watering
from vinehouse.probes import ProbeBank


def make_bank():
    bank = ProbeBank()
    for value in (20.0, 22.0, 27.0):
        bank.record("north", value)
    bank.record("south", 18.0)
    return bank


def test_bank_keeps_readings():
    bank = make_bank()
    assert bank.latest("north") == 27.0
    assert bank.mean("north") == 23.0
    assert bank.probe_names() == ["north", "south"]


def test_bank_without_readings():
    assert ProbeBank().latest("north") is None
    assert ProbeBank().mean("north") is None


def test_vents_open_by_degree():
    assert vents.opening(make_bank(), "north", 24.0) == 30
    assert vents.opening(make_bank(), "south", 24.0) == 0


def test_hottest_probe():
    assert vents.hottest(make_bank()) == "north"


def test_dose_by_mean():
    assert watering.dose_ml(make_bank(), "north") == 195


def test_daily_rows():
    assert daily.summary(make_bank()) == [("north", 27.0, 23.0, "ok"), ("south", 18.0, 18.0, "ok")]
