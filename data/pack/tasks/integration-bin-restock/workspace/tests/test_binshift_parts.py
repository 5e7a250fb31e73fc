import pytest

from binshift.planner import plan_moves
from binshift.warehouse import Bin, Warehouse


def small():
    warehouse = Warehouse([
        Bin("P1", "picking", "bolt", 10, 50),
        Bin("R1", "reserve", "bolt"),
        Bin("R2", "reserve", "bolt"),
    ])
    warehouse.put("P1", 5)
    warehouse.put("R1", 30)
    warehouse.put("R2", 100)
    return warehouse


def test_move_between_bins():
    warehouse = small()
    warehouse.move("bolt", "R1", "R2", 30)
    assert (warehouse.held("R1"), warehouse.held("R2")) == (0, 130)


def test_move_wants_enough_goods():
    with pytest.raises(ValueError):
        small().move("bolt", "P1", "R1", 6)


def test_plan_fills_to_the_maximum():
    moves = plan_moves(small())
    assert [(move.sku, move.quantity) for move in moves] == [("bolt", 45)]


def test_nothing_planned_when_bins_are_full_enough():
    warehouse = small()
    warehouse.put("P1", 5)
    assert plan_moves(warehouse) == []
