from badgepress import orders, palette, sheets


def test_palette():
    assert palette.shade("guest") == "grey"
    assert palette.shade("cook") == "white"


def test_slots():
    assert palette.slots("small") == 12


def test_sheets_needed():
    assert sheets.needed(25, "small") == 3
    assert sheets.needed(24, "small") == 2


def test_colours():
    assert orders.colours({"speaker": 2, "guest": 30}) == ["blue", "grey"]


def test_sheet_total():
    assert orders.sheet_total({"guest": 9, "speaker": 3}, "large") == 3
