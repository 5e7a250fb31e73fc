"""A tree and an oracle that use all that crosses the boundary, and programs with theirs."""

SHELF = """
import asyncio, enum
from collections import Counter, namedtuple
from dataclasses import dataclass, field
from datetime import date, timedelta

LIMIT = 3
NAMES = ("a", "b")
Pair = namedtuple("Pair", "left right")

class ShelfError(ValueError):
    def __init__(self, name, code):
        super().__init__(f"{name} is missing")
        self.code = code

class NoSuchBook(ShelfError, KeyError):
    pass

class Colour(enum.Enum):
    RED = "r"

@dataclass
class Book:
    title: str
    pages: int = 0
    tags: list = field(default_factory=list)
    def thicker(self, more):
        return Book(self.title, self.pages + more)

class Shelf:
    made = 0
    def __init__(self, *books):
        Shelf.made += 1
        self.books = list(books)
    @property
    def size(self):
        return len(self.books)
    def __len__(self):
        return len(self.books)
    def __contains__(self, title):
        return any(book.title == title for book in self.books)
    def __iter__(self):
        return iter(self.books)
    def __getitem__(self, place):
        return self.books[place]
    def __enter__(self):
        return self
    def __exit__(self, kind, error, _):
        self.books.clear()
        return kind is LookupError
    def find(self, title):
        for book in self.books:
            if book.title == title:
                return book
        raise NoSuchBook(title, 404) from LookupError(title)

def count(words):
    return Counter(words)

def split(text):
    head, _, tail = text.partition("-")
    return Pair(head, tail)

def sort(values):
    values.sort()
    return values

def numbers(limit):
    for number in range(limit):
        yield number
    raise RuntimeError("enough")

async def later(value):
    await asyncio.sleep(0)
    return value

def due(day, days):
    return day + timedelta(days)

def limited(values):
    return list(values)[:LIMIT]

def echo(*values, **named):
    return values, named
"""
RICH = """
import asyncio
import math
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest

import shelf
from shelf import Book, Colour, NoSuchBook, Pair, Shelf, ShelfError, echo


def test_plain_values_come_back_as_they_were():
    values = [None, True, 3, 2**200, -0.0, math.inf, "x", "\\ud800\\udc00", b"y", (1, [2, {3}]), {(1, 2): {4: "z"}}, frozenset({5}),
              date(2024, 2, 29), Decimal("1.50"), Fraction(1, 3), range(4), 2j]
    back, named = echo(*values, a=math.nan)
    assert list(back) == values and [type(one) for one in back] == [type(one) for one in values]
    assert math.isnan(named["a"]) and str(back[4]) == "-0.0" and len(back[7]) == 2
    assert shelf.due(date(2024, 2, 28), 1) == date(2024, 2, 29)


def test_data_and_subclasses_of_built_in_types():
    assert shelf.LIMIT == 3 and shelf.NAMES == ("a", "b")
    assert shelf.count("aab") == {"a": 2, "b": 1} and type(shelf.count("a")) is dict


def test_named_tuples():
    assert shelf.split("x-y") == ("x", "y") == Pair("x", "y")
    assert shelf.split("x-y").right == "y" and isinstance(shelf.split(""), Pair)
    assert shelf.split("x-y")[0] == "x" and echo(Pair(1, 2))[0][0] == Pair(1, 2)


def test_objects_stay_there_and_are_asked():
    one = Shelf(Book("Emma", 400), Book("Ivanhoe"))
    assert (len(one), one.size, "Emma" in one, "Ulysses" in one) == (2, 2, True, False)
    assert isinstance(one, Shelf) and one and not Shelf()
    assert one.find("Emma") == Book("Emma", 400) and one.find("Emma") != Book("Emma", 401)
    assert one.find("Emma") is one[0] and [book.title for book in one] == ["Emma", "Ivanhoe"]
    one[0].pages = 7
    assert one.find("Emma").thicker(1).pages == 8 and Shelf.made >= 2
    assert Colour.RED is Colour("r") and Colour.RED == Colour("r") and Colour.RED.value == "r"
    assert one != 3 and one[0] != "Emma"


def test_exceptions_have_their_class_arguments_and_cause():
    with pytest.raises(NoSuchBook, match="Ulysses is missing") as caught:
        Shelf().find("Ulysses")
    assert isinstance(caught.value, ShelfError) and isinstance(caught.value, KeyError)
    assert caught.value.code == 404 and isinstance(caught.value.__cause__, LookupError)
    with pytest.raises(ZeroDivisionError):
        shelf.echo.__wrapped__ if False else shelf.limited(1 / 0 for _ in "a")
    with pytest.raises(AttributeError):
        shelf.nothing
    with pytest.raises(TypeError, match="argument"):
        shelf.split()


def test_what_a_function_changes_in_its_arguments_is_changed():
    values = [3, 1, 2]
    assert shelf.sort(values) is values and values == [1, 2, 3]


def test_iterators_and_coroutines_run_to_their_end():
    seen = []
    with pytest.raises(RuntimeError, match="enough"):
        for number in shelf.numbers(3):
            seen.append(number)
    assert seen == [0, 1, 2] and asyncio.run(shelf.later(5)) == 5
    assert shelf.limited(iter("abcd")) == ["a", "b", "c"]


def test_module_data_can_be_changed(monkeypatch):
    monkeypatch.setattr(shelf, "LIMIT", 1)
    assert shelf.limited([1, 2]) == [1]


def test_and_is_changed_back():
    assert shelf.limited([1, 2]) == [1, 2]


def test_context_managers_are_told_of_the_exception():
    with Shelf(Book("Emma")) as one:
        raise LookupError
    assert len(one) == 0
    with pytest.raises(ValueError), Shelf():
        raise ValueError
"""

PROGRAMS = """
import sys


def test_a_program(product):
    done = product.run(["python", "cli.py", "2", "3"], stdin="x", env={"A": "b"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "5 x b\\n", "")
    assert product.run(["python", "cli.py", "two"]).returncode == 1
    assert product.run(["python", "-c", "import time; time.sleep(60)"], timeout=0.3).returncode is None


def test_a_server(product):
    product.serve(["python", "server.py", "8123"], port=8123)
    answer = product.request("POST", "/sum", body="[1, 2]", headers={"X-Of": "y"})
    assert (answer.status, answer.body, answer.headers["x-seen"]) == (200, b"3", "y")


def test_it_is_gone_afterwards(product):
    import pytest

    with pytest.raises(OSError):
        product.request("GET", "/")
"""
CLI = "import os, sys\nprint(int(sys.argv[1]) + int(sys.argv[2]), sys.stdin.read(), os.environ['A'])\n"
SERVER = """
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.dumps(sum(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))).encode()
        self.send_response(200)
        self.send_header("X-Seen", self.headers["X-Of"])
        self.end_headers()
        self.wfile.write(body)

HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
