import json

from datetime import date, time

from roomroute.rooms import Booking, Rooms
from roomroute.service import Service


def house():
    rooms = Rooms([3, 5])
    rooms.book(3, Booking(date(2024, 5, 2), time(9, 30), time(11), frozenset({"cy", "ann"})))
    return Service(rooms)


def test_all_rooms():
    assert house().get("/rooms") == (200, "[3, 5]")


def test_bookings_of_a_day():
    status, text = house().get("/rooms/3/bookings/2024-05-02")
    assert status == 200
    assert json.loads(text) == {
        "room": 3,
        "bookings": [{"day": "2024-05-02", "start": "09:30", "end": "11:00", "guests": ["ann", "cy"]}],
    }


def test_not_found():
    assert house().get("/rooms/three/bookings/2024-05-02")[0] == 404
    assert house().get("/rooms/4/bookings/2024-05-02") == (404, '{"error": "no such room"}')
