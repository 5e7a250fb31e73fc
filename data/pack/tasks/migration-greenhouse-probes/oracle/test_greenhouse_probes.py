# wb-canary-05b80a3b
import pytest

from vinehouse import daily, vents, watering
from vinehouse.probes import ProbeBank


@pytest.fixture
def bank():
    bank = ProbeBank()
    for value in (12.0, 18.0, 30.0):
        bank.record("door", value)
    for value in (25.0, 21.0):
        bank.record("bench", value)
    return bank


def test_opening(bank):
    assert vents.opening(bank, "door", 26.5) == 30
    assert vents.opening(bank, "bench", 16.0) == 50
    assert vents.opening(bank, "bench", 40.0) == 0
    assert vents.opening(bank, "door", 5.0) == 100


def test_opening_is_safe_without_data(bank):
    assert vents.opening(bank, "attic", 20.0) == vents.SAFE_OPENING
    bank.flag_faulty("door")
    assert vents.opening(bank, "door", 5.0) == vents.SAFE_OPENING


def test_hottest_goes_by_the_latest_reading(bank):
    assert vents.hottest(bank) == "door"
    bank.record("door", 20.0)
    assert vents.hottest(bank) == "bench"


def test_hottest_passes_over_faulty_probes(bank):
    bank.flag_faulty("door")
    assert vents.hottest(bank) == "bench"
    bank.flag_faulty("bench")
    assert vents.hottest(bank) is None


def test_dose_goes_by_the_mean(bank):
    assert watering.dose_ml(bank, "door") == 150
    assert watering.dose_ml(bank, "bench", per_degree=10) == 130
    assert watering.dose_ml(bank, "attic") == 0
    bank.flag_faulty("bench")
    assert watering.dose_ml(bank, "bench") == 0


def test_spread_flags_once(bank):
    assert watering.check_spread(bank, "bench", 2.0) is False
    assert watering.check_spread(bank, "door", 9.0) is True
    assert bank.is_faulty("door")
    assert watering.check_spread(bank, "door", 9.0) is False
    assert watering.check_spread(bank, "attic", 0.0) is False


def test_summary(bank):
    bank.flag_faulty("bench")
    assert daily.summary(bank) == [("bench", 21.0, 23.0, "faulty"), ("door", 30.0, 20.0, "ok")]


def test_faulty_share(bank):
    assert daily.faulty_share(ProbeBank()) == 0.0
    assert daily.faulty_share(bank) == 0.0
    bank.flag_faulty("door")
    assert daily.faulty_share(bank) == 0.5
