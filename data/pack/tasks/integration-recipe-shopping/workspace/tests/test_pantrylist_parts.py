from fractions import Fraction

from pantrylist.collect import collect
from pantrylist.recipes import Ingredient, Recipe, read_book
from pantrylist.scaling import scale


def test_book_is_read():
    book = read_book("pancakes for 4:\n250 g flour\n3 eggs\n")
    assert book["pancakes"].serves == 4
    assert book["pancakes"].ingredients == [Ingredient("flour", Fraction(250), "g"), Ingredient("eggs", Fraction(3))]


def test_scale_for_more_people():
    recipe = Recipe("tea", 2, [Ingredient("water", Fraction(500), "ml")])
    assert scale(recipe, 3) == [Ingredient("water", Fraction(750), "ml")]


def test_collect_adds_to_totals():
    items = [Ingredient("eggs", Fraction(2)), Ingredient("eggs", Fraction(1))]
    assert collect(items, {("eggs", ""): 1}) == {("eggs", ""): 4}
