from tramlines import builder, planner, timetable
from tramlines.network import Network


def make_network():
    network = Network()
    network.connect("Quay", "Mill", minutes=4, both_ways=True)
    network.connect("Mill", "Park", minutes=3, both_ways=True)
    network.connect("Park", "Zoo", minutes=6)
    return network


def test_one_way_track():
    network = make_network()
    assert network.travel_minutes("Zoo", "Quay") == 13
    assert network.travel_minutes("Quay", "Zoo") is None


def test_stops():
    assert make_network().stops() == ["Mill", "Park", "Quay", "Zoo"]


def test_line():
    network = Network()
    builder.add_line(network, ["A", "B", "C"], 5)
    assert network.travel_minutes("C", "A") == 10


def test_loop():
    network = Network()
    builder.add_loop(network, ["A", "B", "C"], 2)
    assert network.travel_minutes("A", "C") == 2
    assert network.travel_minutes("C", "A") == 4


def test_nearest():
    assert planner.nearest(make_network(), "Quay", ["Park", "Mill"]) == "Mill"


def test_round_trip():
    assert planner.round_trip(make_network(), "Quay", "Park") == 14


def test_arrivals():
    assert timetable.arrivals(make_network(), "Park", 600)["Zoo"] == 606


def test_leave_by():
    assert timetable.leave_by(make_network(), "Mill", "Quay", 600) == 596
