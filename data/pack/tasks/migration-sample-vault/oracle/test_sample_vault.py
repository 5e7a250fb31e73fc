# wb-canary-2f285611
import pytest

from samplevault import importer, relabel, store, transfer
from samplevault.store import DuplicateLabel, UnknownLabel, Vault


def content(vault):
    return {label: vault.weight(label) for label in vault.labels()}


def test_batch_commits_on_every_normal_exit():
    vault = Vault({"A": 1})

    def early():
        with vault.batch():
            vault.add("B", 2)
            return vault.in_batch

    assert early() is True
    assert content(vault) == {"A": 1, "B": 2}
    assert vault.in_batch is False


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_batch_rolls_back_on_any_exception(error):
    vault = Vault({"A": 1})
    with pytest.raises(error):
        with vault.batch():
            vault.remove("A")
            vault.add("B", 2)
            raise error()
    assert content(vault) == {"A": 1}
    assert vault.in_batch is False


def test_nested_batches():
    vault = Vault({"A": 1})
    with vault.batch():
        vault.add("B", 2)
        with pytest.raises(DuplicateLabel):
            with vault.batch():
                vault.remove("A")
                vault.add("B", 3)
        assert content(vault) == {"A": 1, "B": 2}
        assert vault.in_batch is True
        with vault.batch():
            vault.add("C", 3)
        assert vault.in_batch is True
        vault.add("D", 4)
    assert content(vault) == {"A": 1, "B": 2, "C": 3, "D": 4}


def test_outer_failure_undoes_inner_batches():
    vault = Vault({"A": 1})
    with pytest.raises(UnknownLabel):
        with vault.batch():
            with vault.batch():
                vault.add("B", 2)
            vault.remove("Z")
    assert content(vault) == {"A": 1}


def test_writing_needs_a_batch():
    vault = Vault({"A": 1})
    for write in (lambda: vault.add("B", 2), lambda: vault.remove("A")):
        with pytest.raises(store.BatchRequired):
            write()
    assert issubclass(store.BatchRequired, RuntimeError)
    assert content(vault) == {"A": 1}
    assert not any(hasattr(vault, name) for name in ("begin", "commit", "rollback"))


def test_load_and_groups():
    vault = Vault({"n/2": 1})
    assert importer.load(vault, [("A", 1), ("B", 2)]) == 2
    with pytest.raises(ValueError):
        importer.load(vault, [("C", 3), ("D", 0)])
    bad = importer.load_groups(vault, {"m": [("1", 5)], "n": [("1", 5), ("2", 5)], "o": [("1", 6), ("2", -1)], "p": []})
    assert bad == ["n", "o"]
    assert content(vault) == {"A": 1, "B": 2, "m/1": 5, "n/2": 1}


def test_callers_inside_of_a_batch():
    vault = Vault({"A": 10})
    with vault.batch():
        vault.add("B", 5)
        with pytest.raises(DuplicateLabel):
            relabel.rename(vault, "A", "B")
        assert importer.load_groups(vault, {"g": [("1", 1), ("1", 2)]}) == ["g"]
        relabel.rename(vault, "B", "C")
    assert content(vault) == {"A": 10, "C": 5}


def test_move_is_all_or_nothing_in_both():
    source, target = Vault({"A": 1, "B": 2, "C": 3}), Vault({"B": 9})
    with pytest.raises(DuplicateLabel):
        transfer.move(source, target, ["A", "B"])
    with pytest.raises(UnknownLabel):
        transfer.move(source, target, ["C", "Z"])
    assert (content(source), content(target)) == ({"A": 1, "B": 2, "C": 3}, {"B": 9})
    assert transfer.move(source, target, ["A", "C"]) == 4
    assert (content(source), content(target)) == ({"B": 2}, {"A": 1, "B": 9, "C": 3})
    assert not source.in_batch and not target.in_batch


def test_relabel():
    vault = Vault({"A": 10, "B": 5})
    relabel.rename(vault, "A", "A")
    assert relabel.split(vault, "A", [("A", 6), ("A2", 3)]) == 1
    with pytest.raises(ValueError):
        relabel.split(vault, "B", [("B1", 3), ("B2", 3)])
    with pytest.raises(DuplicateLabel):
        relabel.split(vault, "B", [("B1", 3), ("A", 1)])
    with pytest.raises(UnknownLabel):
        relabel.split(vault, "Z", [])
    assert content(vault) == {"A": 6, "A2": 3, "B": 5}
    assert vault.in_batch is False
