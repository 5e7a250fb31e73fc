import pytest

from calcline import FormulaError, evaluate


def test_sign_applies_to_the_power():
    assert evaluate("-2^2") == -4
    assert evaluate("(-2)^2") == 4


def test_powers_group_from_the_right():
    assert evaluate("2^3^2") == 512


def test_sums_and_products():
    assert evaluate("1 + 2 * 3 - 4 / 2") == 5
    assert evaluate("10 - 4 - 3") == 3
    assert evaluate("(1 + 2) * 3") == 9


def test_signs():
    assert evaluate("-3 + 5") == 2
    assert evaluate("--2") == 2
    assert evaluate("2 * -3") == -6


def test_names():
    assert evaluate("a * b", {"a": 6, "b": 7}) == 42


def test_errors():
    for formula in ("", "1 +", "(1", "1 2", "x"):
        with pytest.raises(FormulaError):
            evaluate(formula)
