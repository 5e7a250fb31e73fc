# wb-canary-9b66ba59
import pytest

from wagefold import steps
from wagefold.payrun import pay_slip
from wagefold.slips import print_slips


def test_normal_week():
    slip = pay_slip("bob 2400 2000")
    assert slip["gross"] == 80000
    assert slip["kept"] == {"pension": 4000, "tax": 11200}
    assert slip["net"] == 64800


def test_long_week():
    slip = pay_slip("cy 2520 2000")
    assert slip["gross"] == 86000
    assert slip["kept"] == {"pension": 4300, "tax": 12340}
    assert slip["net"] == 69360
    assert slip["taxable"] == 81700


@pytest.mark.parametrize("minutes, net", [(0, 0), (600, 19000), (660, 20720), (2400, 64800), (2401, 64838), (3000, 87600)])
def test_net_pay(minutes, net):
    assert pay_slip(f"dee {minutes} 2000")["net"] == net


def test_pension_is_on_overtime_too():
    assert pay_slip("cy 4800 1000")["kept"]["pension"] == 5000


def test_no_tax_below_the_allowance():
    slip = pay_slip("eli 630 2000")
    assert slip["kept"] == {"pension": 1050, "tax": 0}


def test_printed_slips():
    assert print_slips("cy 2520 2000\n\nann 600 1000\n") == [
        "ann: 100.00 gross, 95.00 net",
        "cy: 860.00 gross, 693.60 net",
        "to transfer: 788.60",
    ]


def test_steps_are_unchanged():
    slip = {"minutes": 60, "rate": 3000, "kept": {}}
    steps.gross(slip)
    assert (slip["gross"], slip["taxable"]) == (3000, 3000)
    slip["taxable"] = 30000
    steps.tax(slip)
    assert slip["kept"] == {"tax": 2000}
