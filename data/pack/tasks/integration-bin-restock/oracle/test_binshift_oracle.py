# wb-canary-4b4351ce
import pytest

from binshift.executor import execute, restock
from binshift.planner import Move, plan_moves
from binshift.warehouse import Bin, Warehouse


@pytest.fixture
def warehouse():
    result = Warehouse([
        Bin("P1", "picking", "bolt", 10, 50),
        Bin("P2", "picking", "nut", 20, 30),
        Bin("R1", "reserve", "bolt"),
        Bin("R2", "reserve", "bolt"),
        Bin("R3", "reserve", "nut"),
    ])
    for name, quantity in {"P1": 4, "P2": 19, "R1": 20, "R2": 30, "R3": 5}.items():
        result.put(name, quantity)
    return result


def contents(warehouse):
    return {name: warehouse.held(name) for name in sorted(warehouse.bins)}


def test_restock_takes_from_several_reserves(warehouse):
    restock(warehouse)
    assert contents(warehouse) == {"P1": 50, "P2": 24, "R1": 4, "R2": 0, "R3": 0}


def test_log_says_from_and_to(warehouse):
    assert restock(warehouse) == [
        "bolt: 30 from R2 to P1",
        "bolt: 16 from R1 to P1",
        "nut: 5 from R3 to P2",
    ]


def test_plan_names_source_and_target(warehouse):
    first = plan_moves(warehouse)[0]
    assert first == Move(sku="bolt", quantity=30, source="R2", target="P1")


def test_plan_changes_nothing(warehouse):
    before = contents(warehouse)
    plan_moves(warehouse)
    assert contents(warehouse) == before


def test_execute_of_a_move_made_by_hand(warehouse):
    log = execute(warehouse, [Move("bolt", 7, "R1", "R2")])
    assert (warehouse.held("R1"), warehouse.held("R2")) == (13, 37)
    assert log == ["bolt: 7 from R1 to R2"]


def test_move_of_the_scanners_is_unchanged(warehouse):
    warehouse.move("nut", "R3", "P2", 2)
    assert (warehouse.held("R3"), warehouse.held("P2")) == (3, 21)
    with pytest.raises(ValueError):
        warehouse.move("nut", "R3", "P2", 4)


def test_second_restock_has_nothing_to_do(warehouse):
    warehouse.put("R3", 10)
    restock(warehouse)
    assert restock(warehouse) == []
