# wb-canary-0fbe85da
import json
from dataclasses import dataclass
from datetime import date, time

import pytest

from roomroute.rooms import Booking, Rooms
from roomroute.router import Router
from roomroute.serializer import to_text
from roomroute.service import Service

DAY = date(2024, 5, 2)


@pytest.fixture
def service():
    rooms = Rooms([3, 5])
    rooms.book(3, Booking(DAY, time(14, 0), time(15, 5)))
    rooms.book(3, Booking(DAY, time(9, 30), time(11), frozenset({"cy", "ann"})))
    rooms.book(3, Booking(date(2024, 5, 3), time(8), time(9)))
    return Service(rooms)


def test_bookings_of_a_day(service):
    status, text = service.get("/rooms/3/bookings/2024-05-02")
    assert status == 200
    assert json.loads(text) == {"room": 3, "bookings": [
        {"day": "2024-05-02", "start": "09:30", "end": "11:00", "guests": ["ann", "cy"]},
        {"day": "2024-05-02", "start": "14:00", "end": "15:05", "guests": []},
    ]}


def test_days_as_keys(service):
    assert service.get("/rooms/3/days") == (200, '{"2024-05-02": 2, "2024-05-03": 1}')
    assert service.get("/rooms/5/days") == (200, "{}")


@pytest.mark.parametrize("path, error", [
    ("/rooms/three/days", "no such page"),
    ("/rooms/-3/days", "no such page"),
    ("/rooms/3/bookings/2024-02-30", "no such page"),
    ("/rooms/3/bookings/20240502", "no such page"),
    ("/rooms/3/bookings", "no such page"),
    ("/rooms/9/days", "no such room"),
])
def test_not_found(service, path, error):
    status, text = service.get(path)
    assert (status, json.loads(text)) == (404, {"error": error})


def test_captured_values_have_their_kind():
    router = Router()
    router.add("/a/<int:number>/<date:day>/<word>", "handler")
    assert router.resolve("/a/007/2024-05-02/12") == ("handler", {"number": 7, "day": DAY, "word": "12"})


def test_next_route_is_tried_when_one_can_not_be_read():
    router = Router()
    router.add("/x/<int:number>", "by number")
    router.add("/x/<date:day>", "by day")
    router.add("/x/<name>", "by name")
    assert router.resolve("/x/12") == ("by number", {"number": 12})
    assert router.resolve("/x/2024-05-02") == ("by day", {"day": DAY})
    assert router.resolve("/x/ann") == ("by name", {"name": "ann"})
    assert router.resolve("/x/ann/y") is None


def test_fixed_route_wins():
    router = Router()
    router.add("/x/<name>", "any")
    router.add("/x/<int:number>", "number")
    router.add("/x/new", "new")
    assert router.resolve("/x/new") == ("new", {})
    assert router.resolve("/x/old") == ("any", {"name": "old"})
    assert router.resolve("/x/5") == ("any", {"name": "5"})


@dataclass
class Leaf:
    when: date
    tags: set


@dataclass
class Tree:
    leaves: tuple
    best: object = None


@pytest.mark.parametrize("value, text", [
    (DAY, '"2024-05-02"'),
    (time(7, 5), '"07:05"'),
    ({3, 1, 2}, "[1, 2, 3]"),
    (frozenset({"b", "a"}), '["a", "b"]'),
    ((1, (DAY, None)), '[1, ["2024-05-02", null]]'),
    ({"b": {DAY}, "a": 1.5}, '{"a": 1.5, "b": ["2024-05-02"]}'),
    ({DAY: {date(2023, 1, 1): [time(0, 0)]}}, '{"2024-05-02": {"2023-01-01": ["00:00"]}}'),
    ({date(2024, 5, 9): 1, DAY: True}, '{"2024-05-02": true, "2024-05-09": 1}'),
])
def test_values_as_text(value, text):
    assert to_text(value) == text


def test_nested_dataclasses():
    tree = Tree((Leaf(DAY, {"x", "a"}),), {"leaf": Leaf(DAY, set())})
    assert json.loads(to_text([tree])) == [{
        "leaves": [{"when": "2024-05-02", "tags": ["a", "x"]}],
        "best": {"leaf": {"when": "2024-05-02", "tags": []}},
    }]


@pytest.mark.parametrize("value", [object(), [b"x"], {"a": complex(1)}])
def test_anything_else_is_an_error(value):
    with pytest.raises(TypeError):
        to_text(value)
