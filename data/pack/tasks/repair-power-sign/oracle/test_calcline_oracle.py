# wb-canary-657eef47
import pytest

from calcline import FormulaError, evaluate


@pytest.mark.parametrize("formula, value", [
    ("-2^2", -4), ("--2^2", 4), ("(-2)^2", 4), ("3-2^2", -1), ("2--3^2", 11), ("-(2)^2", -4), ("1 - -2^2", 5),
])
def test_sign_before_a_power(formula, value):
    assert evaluate(formula) == value


@pytest.mark.parametrize("formula, value", [
    ("2^3^2", 512), ("2^2^0^5", 2), ("(2^3)^2", 64), ("2^1^3^2", 2), ("-2^3^2", -512),
])
def test_powers_from_right_to_left(formula, value):
    assert evaluate(formula) == value


@pytest.mark.parametrize("formula, value", [
    ("2^-1", 0.5), ("2^--2", 4), ("2^-2^2", 0.0625), ("2^-(1+1)", 0.25), ("-2^-1", -0.5), ("4^-2^-1", 0.5),
])
def test_sign_in_the_exponent(formula, value):
    assert evaluate(formula) == value


@pytest.mark.parametrize("formula, value", [
    ("2*-3^2", -18), ("18/-3^2", -2), ("2*3^2", 18), ("-3^2*2", -18), ("2^3*2", 16), ("2^-1*4", 2),
    ("8/2^2/2", 1), ("2*-3*-4", 24), ("-2*-2", 4), ("2^2+1", 5),
])
def test_products_and_powers(formula, value):
    assert evaluate(formula) == value


@pytest.mark.parametrize("formula, value", [
    ("1 + 2 * 3 - 4 / 2", 5), ("10 - 4 - 3", 3), ("64 / 4 / 2", 8), ("((7))", 7), ("-(1 + 2)", -3), ("---1.5", -1.5),
])
def test_the_rest_is_as_before(formula, value):
    assert evaluate(formula) == value


def test_names_have_the_same_rules():
    names = {"a": -3, "b": 2}
    assert evaluate("a^b", names) == 9
    assert evaluate("-a^b*3", names) == -27
    assert evaluate("b^-b", names) == 0.25


@pytest.mark.parametrize("formula", ["", "2^", "^2", "2^^2", "-", "2^-", "(2^2", "2^2)", "2 2", "2^*3", "zz^2"])
def test_errors(formula):
    with pytest.raises(FormulaError):
        evaluate(formula)
