import pytest

from feedshelf.printout import contents, last_page, titles
from feedshelf.shelf import Shelf
from feedshelf.walker import Entry, walk


def test_shelf_pages():
    shelf = Shelf(["Ash", "Birch", "Cedar"], 2)
    assert shelf.page_count() == 2
    assert shelf.fetch(0) == ["Ash", "Birch"]
    assert shelf.fetch(1) == ["Cedar"]
    assert shelf.fetch(2) == []


def test_no_page_before_the_first():
    with pytest.raises(IndexError):
        Shelf(["Ash"], 2).fetch(-1)


def test_walk_gives_entries():
    assert all(isinstance(entry, Entry) for entry in walk(Shelf(["Ash", "Birch"], 1)))


def test_empty_shelf():
    assert contents(Shelf([], 5)) == []
    assert last_page(Shelf([], 5)) == 0


def test_every_title_is_printed():
    names = ["Ash", "Birch", "Cedar", "Elm", "Fir"]
    assert titles(Shelf(names, 2)) == names
