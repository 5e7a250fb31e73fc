"""Recipes for more or fewer people."""
from fractions import Fraction

from pantrylist.recipes import Ingredient, Recipe


def scale(recipe: Recipe, people: int) -> list[Ingredient]:
    """The ingredients of a recipe for so many people."""
    factor = Fraction(people, recipe.serves)
    return [Ingredient(item.name, item.quantity * factor, item.unit) for item in recipe.ingredients]
