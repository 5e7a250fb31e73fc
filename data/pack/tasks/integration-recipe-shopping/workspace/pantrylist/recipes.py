"""Recipes and the book of them."""
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class Ingredient:
    name: str
    quantity: Fraction
    unit: str = ""


@dataclass
class Recipe:
    name: str
    serves: int
    ingredients: list = field(default_factory=list)


def read_book(text: str) -> dict:
    """Read recipes: ``pancakes for 4:`` and then lines such as ``250 g flour`` or ``3 eggs``."""
    book = {}
    recipe = None
    for line in text.splitlines():
        line = line.strip()
        if not line:
            continue
        if line.endswith(":"):
            name, serves = line[:-1].rsplit(" for ", 1)
            recipe = book[name] = Recipe(name, int(serves))
            continue
        quantity, *words = line.split()
        unit = words.pop(0) if len(words) > 1 else ""
        recipe.ingredients.append(Ingredient(" ".join(words), Fraction(quantity), unit))
    return book
