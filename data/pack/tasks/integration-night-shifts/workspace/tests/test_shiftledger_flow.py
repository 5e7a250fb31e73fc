from shiftledger.timesheet import timesheet


def test_day_shifts():
    lines = ["bob 2024-03-01 05:00 13:00", "ann 2024-03-01 08:00 12:00"]
    assert timesheet(lines) == [
        "ann 2024-03-01: 240 min, 0 at night",
        "bob 2024-03-01: 480 min, 60 at night",
    ]


def test_shift_over_midnight():
    assert timesheet(["ann 2024-03-01 21:00 06:30"]) == [
        "ann 2024-03-01: 180 min, 120 at night",
        "ann 2024-03-02: 390 min, 360 at night",
    ]


def test_recorded_at_two_gates():
    lines = ["ann 2024-03-01 08:00 12:00", "ann 2024-03-01 08:05 12:10"]
    assert timesheet(lines) == ["ann 2024-03-01: 250 min, 0 at night"]
