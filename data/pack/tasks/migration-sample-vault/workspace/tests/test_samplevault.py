import pytest

from samplevault import importer, relabel, transfer
from samplevault.store import DuplicateLabel, UnknownLabel, Vault


def test_batch_keeps_changes():
    vault = Vault({"S1": 10})
    with vault.batch():
        vault.add("S2", 5)
        assert vault.in_batch is True
    assert vault.labels() == ["S1", "S2"]
    assert vault.in_batch is False


def test_batch_undoes_changes():
    vault = Vault({"S1": 10})
    with pytest.raises(UnknownLabel):
        with vault.batch():
            vault.remove("S1")
            vault.remove("S9")
    assert vault.labels() == ["S1"]


def test_add_needs_a_batch():
    vault = Vault()
    with pytest.raises(RuntimeError):
        vault.add("S1", 10)
    assert vault.labels() == []


def test_load_inside_of_a_batch():
    vault = Vault()
    with vault.batch():
        assert importer.load(vault, [("S1", 1), ("S2", 2)]) == 2
    assert vault.labels() == ["S1", "S2"]


def test_load_is_all_or_nothing():
    vault = Vault({"S2": 1})
    with pytest.raises(DuplicateLabel):
        importer.load(vault, [("S1", 1), ("S2", 2)])
    assert vault.labels() == ["S2"]


def test_move():
    source, target = Vault({"S1": 4, "S2": 6}), Vault()
    assert transfer.move(source, target, ["S2"]) == 6
    assert (source.labels(), target.labels()) == (["S1"], ["S2"])


def test_rename():
    vault = Vault({"S1": 4})
    relabel.rename(vault, "S1", "T1")
    assert vault.weight("T1") == 4
