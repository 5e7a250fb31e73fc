from wagefold.payrun import pay_slip
from wagefold.slips import print_slips


def test_slips_of_a_normal_week():
    assert print_slips("bob 2400 2000\nann 600 1000\n") == [
        "ann: 100.00 gross, 95.00 net",
        "bob: 800.00 gross, 648.00 net",
        "to transfer: 743.00",
    ]


def test_overtime_is_paid():
    assert pay_slip("cy 2520 2000")["gross"] == 86000
