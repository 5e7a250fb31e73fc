# wb-canary-c18616ff
import pytest

from binstock import audit, bins, picking, restock


@pytest.fixture
def store():
    return bins.Store({"cam": 6, "pin": 2, "rod": 0}, {"pin": 5, "rod": 1, "cam": 6})


def test_pick(store):
    assert picking.pick(store, {"cam": 4, "pin": 3, "rod": 1, "hub": 2}) == {"pin": 1, "rod": 1, "hub": 2}
    assert store.counts == {"cam": 2, "pin": 0, "rod": 0}


def test_put_back(store):
    picking.put_back(store, {"pin": 2, "cam": 0, "hub": 1})
    assert store.counts == {"cam": 6, "pin": 4, "rod": 0, "hub": 1}


def test_plan(store):
    assert restock.plan(store) == {"pin": 8, "rod": 2}
    assert restock.plan(store, factor=1) == {"pin": 3, "rod": 1}


def test_deliver(store):
    assert restock.deliver(store, {"pin": 2, "rod": 4}) == ["pin"]
    assert restock.deliver(store, {"pin": 1}) == []
    assert store.counts["rod"] == 4


@pytest.mark.parametrize("counted, difference", [(9, 3), (6, 0), (1, -5), (0, -6)])
def test_adjust_by_keyword(store, counted, difference):
    assert audit.adjust(store, sku="cam", qty=counted) == difference
    assert bins.on_hand(store, "cam") == counted


def test_adjust_refuses_negative_counts(store):
    with pytest.raises(ValueError):
        audit.adjust(store, "cam", qty=-1)
    assert store.counts["cam"] == 6


def test_sheet_rows(store):
    assert audit.sheet(store) == [
        {"sku": "cam", "qty": 6, "low": False},
        {"sku": "pin", "qty": 2, "low": True},
        {"sku": "rod", "qty": 0, "low": True},
    ]
