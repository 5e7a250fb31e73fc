from lapboard.board import board


def test_leader_is_on_top():
    lines = [
        "7 01:58", "12 02:01", "3 02:10",
        "7 03:59", "12 04:05",
        "12 06:10",
    ]
    assert board(lines) == [
        "1. #12 3 laps 06:10",
        "2. #7 2 laps 03:59",
        "3. #3 1 lap 02:10",
    ]
