import pytest

from datetime import date

from roomroute.captures import to_date, to_int
from roomroute.router import Router
from roomroute.serializer import to_text


def test_captures():
    assert to_int("12") == 12
    assert to_date("2024-05-02") == date(2024, 5, 2)
    with pytest.raises(ValueError):
        to_int("-1")


def test_router_compares_words():
    router = Router()
    router.add("/rooms/list", "handler")
    assert router.resolve("/rooms/list") == ("handler", {})
    assert router.resolve("/rooms/other") is None


def test_plain_capture():
    router = Router()
    router.add("/people/<who>", "handler")
    assert router.resolve("/people/ann") == ("handler", {"who": "ann"})


def test_serializer_sorts_keys():
    assert to_text({"b": [1, None], "a": "x"}) == '{"a": "x", "b": [1, null]}'
