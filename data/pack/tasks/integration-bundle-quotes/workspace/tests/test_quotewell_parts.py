import pytest

from quotewell.cache import QuoteCache
from quotewell.catalogue import Catalogue
from quotewell.pricing import unit_price


def test_catalogue_tells_of_a_price():
    told = []
    catalogue = Catalogue()
    catalogue.subscribe(told.append)
    catalogue.set_price("cup", 300)
    assert told == ["cup"]


def test_bundle_needs_known_parts():
    with pytest.raises(ValueError):
        Catalogue().define_bundle("set", {"cup": 6})


def test_price_of_a_bundle():
    catalogue = Catalogue()
    catalogue.set_price("cup", 300)
    catalogue.define_bundle("set", {"cup": 6}, 10)
    assert unit_price(catalogue, "set") == 1620


def test_cache_keeps_quotes():
    cache = QuoteCache()
    cache.put("cup", 2, 600)
    assert cache.get("cup", 2) == 600
    assert cache.get("cup", 3) is None
    cache.drop("pot")
    assert len(cache) == 1
