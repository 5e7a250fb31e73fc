# wb-canary-7b10e554
import pytest

from quotewell.cache import QuoteCache
from quotewell.catalogue import Catalogue
from quotewell.desk import QuoteDesk


@pytest.fixture
def shop():
    catalogue = Catalogue()
    for sku, cents in {"cup": 300, "pot": 2000, "tray": 900, "tea": 500}.items():
        catalogue.set_price(sku, cents)
    catalogue.define_bundle("set", {"cup": 6, "pot": 1}, 10)
    catalogue.define_bundle("service", {"set": 1, "tray": 1})
    catalogue.define_bundle("hamper", {"service": 1, "set": 1, "tea": 2}, 50)
    return catalogue


def test_new_price_for_every_quantity(shop):
    desk = QuoteDesk(shop)
    assert [desk.quote("cup", n) for n in (1, 2, 10)] == [300, 600, 2700]
    shop.set_price("cup", 200)
    assert [desk.quote("cup", n) for n in (1, 2, 10)] == [200, 400, 1800]


def test_new_price_reaches_bundles_of_bundles(shop):
    desk = QuoteDesk(shop)
    assert [desk.quote(s) for s in ("set", "service", "hamper")] == [3420, 4320, 4370]
    shop.set_price("pot", 3000)
    assert [desk.quote(s) for s in ("hamper", "service", "set")] == [5270, 5220, 4320]


def test_new_discount_reaches_bundles_of_bundles(shop):
    desk = QuoteDesk(shop)
    assert [desk.quote(s, 2) for s in ("set", "service", "hamper")] == [6840, 8640, 8740]
    shop.set_discount("set", 0)
    assert [desk.quote(s, 2) for s in ("set", "service", "hamper")] == [7600, 9400, 9500]


def test_other_quotes_stay_in_the_cache(shop):
    desk = QuoteDesk(shop)
    for sku in ("cup", "pot", "tray", "tea", "set", "service", "hamper"):
        desk.quote(sku)
    assert desk.reckoned == 7
    shop.set_price("tea", 600)
    for sku in ("cup", "pot", "tray", "tea", "set", "service", "hamper"):
        desk.quote(sku)
    assert desk.reckoned == 9
    shop.set_discount("service", 5)
    for sku in ("cup", "pot", "tray", "tea", "set", "service", "hamper"):
        desk.quote(sku)
    assert desk.reckoned == 11


@pytest.mark.parametrize("sku, affected", [
    ("cup", ["cup", "hamper", "service", "set"]),
    ("tray", ["hamper", "service", "tray"]),
    ("tea", ["hamper", "tea"]),
    ("spoon", ["spoon"]),
])
def test_each_affected_sku_is_told_once(shop, sku, affected):
    told = []
    shop.subscribe(told.append)
    shop.set_price(sku, 123)
    assert sorted(told) == affected


def test_discount_is_told(shop):
    told, also = [], []
    shop.subscribe(told.append)
    shop.subscribe(also.append)
    shop.set_discount("set", 20)
    assert sorted(told) == sorted(also) == ["hamper", "service", "set"]


def test_drop_forgets_one_sku():
    cache = QuoteCache()
    for sku in ("cup", "cups"):
        for quantity in (1, 5):
            cache.put(sku, quantity, 100)
    cache.drop("cup")
    assert [cache.get("cup", 1), cache.get("cup", 5)] == [None, None]
    assert [cache.get("cups", 1), cache.get("cups", 5)] == [100, 100]
    cache.drop("pot")
    assert len(cache) == 2


def test_several_changes_and_two_desks(shop):
    first, second = QuoteDesk(shop), QuoteDesk(shop)
    assert first.quote("service") == second.quote("service") == 4320
    shop.set_price("tray", 1000)
    shop.set_discount("service", 50)
    assert first.quote("service") == second.quote("service") == 2210
