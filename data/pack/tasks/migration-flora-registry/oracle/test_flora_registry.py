# wb-canary-b4c0a07b
import pytest

from floradesk import checklist, labels, registry as registry_module, survey
from floradesk.registry import Registry, Species, UnknownCode

SPECIES = {f"C{n:02}": Species(f"plant {n}", "even" if n % 2 == 0 else "odd") for n in range(30)}


@pytest.fixture
def registry():
    return Registry(SPECIES)


def test_labels_in_order(registry):
    codes = ["C07", "X1", "C03", "C07", "C12", "C00", "X2", "C29"]
    assert labels.labels(registry, codes) == [
        "C07: plant 7", "X1: ?", "C03: plant 3", "C07: plant 7", "C12: plant 12", "C00: plant 0", "X2: ?", "C29: plant 29",
    ]
    assert registry.requests == 2


def test_nothing_to_look_up(registry):
    assert labels.labels(registry, []) == []
    assert survey.by_family(registry, []) == {}
    assert checklist.verify(registry, []) == []
    assert checklist.first_known(registry, []) is None
    assert registry.requests == 0


def test_by_family(registry):
    sightings = ["C01", "C02", "C01", "X1", "C03", "C01", "X1", "C05", "C02"]
    assert survey.by_family(registry, sightings) == {"odd": 5, "even": 2, None: 2}
    assert registry.requests == 1


def test_compare_asks_for_each_code_once(registry):
    assert survey.compare(registry, ["C01", "C03", "X1"], ["C03", "C04", "C01", "X2"]) == ["even"]
    assert registry.requests == 1
    assert survey.compare(registry, ["C01", "C02"], ["C05", "X1"]) == []
    assert survey.compare(registry, ["X1"], ["C05", "C08"]) == ["even", "odd"]


def test_verify(registry):
    codes = ["C11", "C02", "C11", "C25", "C04", "C06", "C08", "C10", "C12", "C14", "C16", "C18", "C20"]
    assert checklist.verify(registry, codes) == [SPECIES[code] for code in codes]
    assert registry.requests == 3


def test_verify_names_the_first_unknown(registry):
    with pytest.raises(UnknownCode) as info:
        checklist.verify(registry, ["C01", "X8", "C02", "C03", "X1", "C04", "A0"])
    assert "X8" in str(info.value)


def test_first_known_goes_by_the_list(registry):
    assert checklist.first_known(registry, ["X1", "C09", "C20", "C01"]) == "C09"
    assert checklist.first_known(registry, ["X1", "X2"]) is None


def test_first_known_stops_asking(registry):
    codes = ["X1", "X1", "X2", "X3", "X4", "C08", "C01", "C02", "C03", "C04", "C05"]
    assert checklist.first_known(registry, codes) == "C08"
    assert registry.requests == 1
    assert checklist.first_known(registry, ["X1", "X2", "X3", "X4", "X5", "X6", "C02", "C01"] + codes) == "C02"
    assert registry.requests == 3


def test_limit_is_read_when_needed(registry, monkeypatch):
    monkeypatch.setattr(registry_module, "MAX_CODES", 2)
    codes = ["C01", "C02", "C03", "C04", "C05"]
    assert labels.labels(registry, codes)[4] == "C05: plant 5"
    assert registry.requests == 3
    assert len(checklist.verify(registry, codes)) == 5
    assert survey.by_family(registry, codes) == {"odd": 3, "even": 2}
    assert checklist.first_known(registry, ["X1", "X2", "X3", "C01"]) == "C01"
    assert registry.requests == 11
