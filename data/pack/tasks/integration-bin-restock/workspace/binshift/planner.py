"""Work out which moves the warehouse needs."""
from collections import namedtuple

from binshift.warehouse import Warehouse

Move = namedtuple("Move", "sku quantity source target")


def plan_moves(warehouse: Warehouse) -> list:
    """Moves that bring low picking bins up to their maximum."""
    left = {bin_.name: warehouse.held(bin_.name) for bin_ in warehouse.zone("reserve")}
    moves = []
    for picking in warehouse.zone("picking"):
        held = warehouse.held(picking.name)
        if held >= picking.minimum:
            continue
        wanted = picking.maximum - held
        reserves = [bin_ for bin_ in warehouse.zone("reserve") if bin_.sku == picking.sku]
        reserves.sort(key=lambda bin_: (-left[bin_.name], bin_.name))
        for reserve in reserves:
            taken = min(wanted, left[reserve.name])
            if taken > 0:
                moves.append(Move(picking.sku, taken, reserve.name, picking.name))
                left[reserve.name] -= taken
                wanted -= taken
    return moves
