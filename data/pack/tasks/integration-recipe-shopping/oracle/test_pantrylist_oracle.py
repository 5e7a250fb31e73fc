# wb-canary-4678b466
from fractions import Fraction

import pytest

from pantrylist.collect import collect
from pantrylist.recipes import Ingredient, read_book
from pantrylist.scaling import scale
from pantrylist.shopping import shopping_list

TEXT = """
pancakes for 4:
    200 g flour
    2 eggs
omelette for 1:
    3 eggs
    10 g butter
dough for 3:
    100 g flour
"""


@pytest.fixture
def book():
    return read_book(TEXT)


def test_lists_are_independent(book):
    assert shopping_list([("omelette", 2)], book) == ["butter: 20 g", "eggs: 6"]
    assert shopping_list([("dough", 3)], book) == ["flour: 100 g"]
    assert shopping_list([], book) == []


def test_all_recipes_of_a_plan_are_taken_in(book):
    plan = [("dough", 6), ("omelette", 1), ("pancakes", 2)]
    assert shopping_list(plan, book) == ["butter: 10 g", "eggs: 4", "flour: 300 g"]


def test_same_recipe_for_different_people(book):
    plan = [("pancakes", 4), ("pancakes", 2), ("pancakes", 6)]
    assert shopping_list(plan, book) == ["eggs: 6", "flour: 600 g"]


def test_scaling_leaves_the_book_alone(book):
    before = read_book(TEXT)
    result = scale(book["pancakes"], 8)
    result[0].quantity += 1
    result.pop()
    assert book == before


def test_scaling_is_exact(book):
    assert scale(book["dough"], 1) == [Ingredient("flour", Fraction(100, 3), "g")]
    assert scale(book["dough"], 2) == [Ingredient("flour", Fraction(200, 3), "g")]


def test_collect_without_totals_starts_new():
    items = [Ingredient("eggs", Fraction(2))]
    first = collect(items)
    second = collect(items)
    assert first == second == {("eggs", ""): 2}
    assert first is not second


def test_collect_adds_to_the_dict_it_is_given():
    mine = {}
    assert collect([Ingredient("eggs", Fraction(2))], mine) is mine
    collect([Ingredient("eggs", Fraction(1)), Ingredient("flour", Fraction(5), "g")], mine)
    assert mine == {("eggs", ""): 3, ("flour", "g"): 5}


def test_same_plan_twice(book):
    plan = [("pancakes", 3), ("omelette", 3)]
    first = shopping_list(plan, book)
    assert first == ["butter: 30 g", "eggs: 21/2", "flour: 150 g"]
    assert shopping_list(plan, book) == first
