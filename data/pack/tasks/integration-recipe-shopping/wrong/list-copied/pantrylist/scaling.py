"""Recipes for more or fewer people."""
from fractions import Fraction

from pantrylist.recipes import Ingredient, Recipe


def scale(recipe: Recipe, people: int) -> list[Ingredient]:
    """The ingredients of a recipe for so many people."""
    factor = Fraction(people, recipe.serves)
    items = list(recipe.ingredients)
    for item in items:
        item.quantity = item.quantity * factor
    return items
