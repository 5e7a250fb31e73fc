# wb-canary-c5c6253d
import pytest

from tramlines import builder, planner, timetable
from tramlines.network import Network


@pytest.fixture
def network():
    network = Network()
    network.connect("Dock", "Gate", minutes=2, both_ways=True)
    network.connect("Gate", "Hill", minutes=5)
    network.connect("Hill", "Dock", minutes=9)
    network.connect("Hill", "Fort", minutes=1)
    return network


def test_line_runs_both_ways():
    network = Network()
    builder.add_line(network, ["A", "B", "C", "D"], 3)
    assert network.travel_minutes("D", "A") == 9
    assert network.travel_minutes("A", "D") == 9


def test_loop_runs_one_way():
    network = Network()
    builder.add_loop(network, ["A", "B", "C", "D"], 3)
    assert network.travel_minutes("B", "A") == 3
    assert network.travel_minutes("A", "B") == 9


def test_nearest_from_the_origin(network):
    assert planner.nearest(network, "Gate", ["Hill", "Dock"]) == "Dock"
    assert planner.nearest(network, "Hill", ["Gate", "Fort"]) == "Fort"
    assert planner.nearest(network, "Fort", ["Hill", "Dock"]) is None
    assert planner.nearest(network, "Gate", []) is None


def test_round_trip(network):
    assert planner.round_trip(network, "Gate", "Hill") == 16
    assert planner.round_trip(network, "Gate", "Fort") is None
    assert planner.round_trip(network, "Fort", "Gate") is None


def test_cut_off(network):
    assert planner.cut_off(network, "Dock") == ["Fort"]
    assert planner.cut_off(network, "Fort") == []


def test_arrivals(network):
    assert timetable.arrivals(network, "Gate", 300) == {"Dock": 302, "Fort": 306, "Gate": 300, "Hill": 305}
    assert timetable.arrivals(network, "Fort", 300) == {"Fort": 300}


def test_leave_by(network):
    assert timetable.leave_by(network, "Gate", "Hill", 100) == 95
    assert timetable.leave_by(network, "Hill", "Gate", 100) == 89
    assert timetable.leave_by(network, "Fort", "Gate", 100) is None
