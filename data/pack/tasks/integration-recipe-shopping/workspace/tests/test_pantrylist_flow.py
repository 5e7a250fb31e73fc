from pantrylist.recipes import read_book
from pantrylist.shopping import shopping_list

TEXT = """
pancakes for 4:
    200 g flour
    2 eggs
omelette for 1:
    3 eggs
    10 g butter
"""


def test_same_plan_gives_the_same_list():
    book = read_book(TEXT)
    plan = [("pancakes", 4), ("omelette", 1)]
    first = shopping_list(plan, book)
    assert first == ["butter: 10 g", "eggs: 5", "flour: 200 g"]
    assert shopping_list(plan, book) == first


def test_recipe_planned_twice():
    book = read_book(TEXT)
    assert shopping_list([("pancakes", 4), ("pancakes", 2)], book) == ["eggs: 3", "flour: 300 g"]
