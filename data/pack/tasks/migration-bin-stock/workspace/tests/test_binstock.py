import pytest

from binstock import audit, bins, picking, restock


def make_store():
    return bins.Store({"bolt": 5, "nut": 1}, {"bolt": 2, "nut": 4})


def test_issue_and_receive():
    store = make_store()
    assert bins.issue(store, "bolt", 3) == 2
    assert bins.receive(store, "nut", 3) == 4


def test_issue_too_many():
    with pytest.raises(bins.OutOfStock):
        bins.issue(make_store(), "nut", 2)


def test_pick_gives_what_is_short():
    store = make_store()
    assert picking.pick(store, {"bolt": 3, "nut": 2}) == {"nut": 1}
    assert store.counts == {"bolt": 2, "nut": 0}


def test_plan():
    assert restock.plan(make_store()) == {"nut": 7}


def test_adjust():
    store = make_store()
    assert audit.adjust(store, "bolt", 7) == 2
    assert store.counts["bolt"] == 7


def test_sheet_has_every_part():
    assert [row["sku"] for row in audit.sheet(make_store())] == ["bolt", "nut"]
