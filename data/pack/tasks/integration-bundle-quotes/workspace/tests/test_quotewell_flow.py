from quotewell.catalogue import Catalogue
from quotewell.desk import QuoteDesk


def tea_shop():
    catalogue = Catalogue()
    catalogue.set_price("cup", 300)
    catalogue.set_price("pot", 2000)
    catalogue.define_bundle("set", {"cup": 6, "pot": 1}, 10)
    return catalogue, QuoteDesk(catalogue)


def test_quotes_are_remembered():
    _, desk = tea_shop()
    assert [desk.quote("cup"), desk.quote("cup"), desk.quote("set")] == [300, 300, 3420]
    assert desk.reckoned == 2


def test_new_price_of_a_cup():
    catalogue, desk = tea_shop()
    assert desk.quote("cup", 2) == 600
    catalogue.set_price("cup", 350)
    assert desk.quote("cup", 2) == 700


def test_new_price_of_a_part():
    catalogue, desk = tea_shop()
    assert desk.quote("set") == 3420
    catalogue.set_price("pot", 3000)
    assert desk.quote("set") == 4320
