"""Import a delivery list."""
from seedintake.lots import to_lot
from seedintake.reader import read_lines
from seedintake.summary import Summary


def import_text(text: str, store):
    """Take all lots of a list into the store; gives the summary."""
    summary = Summary()
    for number, cells in read_lines(text):
        try:
            store.add(to_lot(cells))
        except Exception:
            continue
        summary.accept()
    return summary
