# wb-canary-685c9062
import pytest

from feedshelf.printout import contents, last_page, titles
from feedshelf.shelf import Shelf
from feedshelf.walker import Entry, walk

NAMES = ["Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Lime"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10])
def test_all_titles_in_order(size):
    assert titles(Shelf(NAMES, size)) == NAMES


def test_contents_of_several_pages():
    assert contents(Shelf(NAMES[:5], 2)) == ["1.1 Ash", "1.2 Birch", "2.1 Cedar", "2.2 Elm", "3.1 Fir"]


def test_single_page():
    assert contents(Shelf(["Ash", "Birch"], 10)) == ["1.1 Ash", "1.2 Birch"]


def test_entries_count_from_one():
    entries = list(walk(Shelf(NAMES, 3)))
    assert entries[0] == Entry(page=1, position=1, title="Ash")
    assert entries[-1] == Entry(page=3, position=1, title="Lime")


@pytest.mark.parametrize("size, page", [(7, 1), (6, 2), (2, 4), (1, 7)])
def test_last_page(size, page):
    assert last_page(Shelf(NAMES, size)) == page


def test_fetch_still_counts_from_zero():
    shelf = Shelf(NAMES, 3)
    assert shelf.fetch(0) == ["Ash", "Birch", "Cedar"]
    assert shelf.fetch(2) == ["Lime"]
    assert shelf.fetch(3) == []
    with pytest.raises(IndexError):
        shelf.fetch(-1)


def test_empty_shelf():
    assert list(walk(Shelf([], 2))) == []
    assert last_page(Shelf([], 2)) == 0
