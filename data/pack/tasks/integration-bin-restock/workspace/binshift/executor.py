"""Carry out planned moves."""
from binshift.planner import plan_moves
from binshift.warehouse import Warehouse


def execute(warehouse: Warehouse, moves) -> list[str]:
    """Carry out the moves in their order; gives one line of log for each."""
    log = []
    for move in moves:
        warehouse.move(move.sku, move.target, move.source, move.quantity)
        log.append(f"{move.sku}: {move.quantity} from {move.source} to {move.target}")
    return log


def restock(warehouse) -> list[str]:
    """Fill the picking bins that are low; gives the log."""
    return execute(warehouse, plan_moves(warehouse))
