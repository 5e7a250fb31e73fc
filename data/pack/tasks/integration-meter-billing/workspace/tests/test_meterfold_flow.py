from meterfold.bill import make_bills


def test_bills_of_an_export():
    lines = [
        "# gateway 7",
        "flat-1;2024-03-01;2;kWh",
        "flat-1;2024-03-02;1000;Wh",
        "mill;2024-03-01;0.5;MWh",
    ]
    assert make_bills(lines, 30) == {"flat-1": 90, "mill": 15000}
