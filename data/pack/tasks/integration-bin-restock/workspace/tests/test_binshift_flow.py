from binshift.executor import restock
from binshift.warehouse import Bin, Warehouse


def test_restock_fills_the_picking_bin():
    warehouse = Warehouse([Bin("P1", "picking", "bolt", 10, 50), Bin("R1", "reserve", "bolt")])
    warehouse.put("P1", 8)
    warehouse.put("R1", 60)
    log = restock(warehouse)
    assert len(log) == 1
    assert warehouse.held("P1") == 50
    assert warehouse.held("R1") == 18
