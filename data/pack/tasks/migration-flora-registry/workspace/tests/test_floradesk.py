import pytest

from floradesk import checklist, labels, survey
from floradesk.registry import Registry, Species, UnknownCode

SPECIES = {
    "BEL": Species("daisy", "aster"),
    "TAR": Species("dandelion", "aster"),
    "URT": Species("nettle", "nettle"),
}


def test_lookup_many():
    registry = Registry(SPECIES)
    assert registry.lookup_many(["URT", "XXX"]) == {"URT": SPECIES["URT"]}
    assert registry.requests == 1


def test_lookup_many_refuses():
    registry = Registry(SPECIES)
    for codes in ([], ["BEL", "BEL"], ["A", "B", "C", "D", "E", "F"]):
        with pytest.raises(ValueError):
            registry.lookup_many(codes)


def test_labels():
    assert labels.labels(Registry(SPECIES), ["URT", "XXX", "BEL"]) == ["URT: nettle", "XXX: ?", "BEL: daisy"]


def test_by_family():
    registry = Registry(SPECIES)
    assert survey.by_family(registry, ["BEL", "URT", "TAR", "BEL"]) == {"aster": 3, "nettle": 1}
    assert registry.requests == 1


def test_verify():
    assert checklist.verify(Registry(SPECIES), ["TAR", "BEL"]) == [SPECIES["TAR"], SPECIES["BEL"]]


def test_verify_unknown():
    with pytest.raises(UnknownCode):
        checklist.verify(Registry(SPECIES), ["TAR", "XXX"])


def test_first_known():
    assert checklist.first_known(Registry(SPECIES), ["XXX", "URT", "BEL"]) == "URT"
