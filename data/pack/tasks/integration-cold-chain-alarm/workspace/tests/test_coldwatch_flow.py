from coldwatch.digest import digest
from coldwatch.limits import Limits


def test_good_delivery_is_quiet():
    assert digest({"d1": ["t1 50", "t1 60", "t1 80"]}, Limits(2, 8), 2) == {}


def test_warm_delivery_is_found():
    assert digest({"d1": ["t1 50", "t1 120", "t1 130"]}, Limits(2, 8), 2) == {"d1": ["t1"]}


def test_deliveries_do_not_mix():
    deliveries = {"d1": ["t1 50", "t1 120"], "d2": ["t1 130", "t1 40"]}
    assert digest(deliveries, Limits(2, 8), 2) == {}
