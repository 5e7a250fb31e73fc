# wb-canary-f9713393
import pytest

from shelfgate.directory import Document
from shelfgate.gate import Gate
from shelfgate.listing import visible_documents
from shelfgate.page import render

ROWS = ["Zebra|ann", "budget|bob|ann", "Canteen|bob|everyone", "Old plan|ann||archived", "Secret|bob|cy"]


@pytest.mark.parametrize("user, expected", [
    ("ann", "- budget (bob)\n- Canteen (bob)\n- Zebra (ann)"),
    ("bob", "- budget (bob)\n- Canteen (bob)\n- Secret (bob)"),
    ("cy", "- Canteen (bob)\n- Secret (bob)"),
    ("zoe", "- Canteen (bob)"),
])
def test_page_of_each_user(user, expected):
    assert render(user, ROWS) == expected


def test_admin_sees_everything():
    page = render("root", ROWS, ("root",))
    assert page.splitlines() == [
        "- budget (bob)", "- Canteen (bob)", "- Old plan (ann) [archived]", "- Secret (bob)", "- Zebra (ann)",
    ]


def test_archived_documents_are_kept_from_their_owner():
    assert render("ann", ["Old|ann||archived"]) == "(nothing to show)"


def test_gate_keeps_its_meaning():
    gate = Gate(["root"])
    document = Document("Tax", "bob", frozenset({"ann"}), True)
    assert gate.denies("ann", document) is True
    assert gate.denies("root", document) is False


def test_listing_asks_the_gate():
    class OnlyEven(Gate):
        def denies(self, user, document):
            return int(document.title) % 2 == 1

    documents = [Document(str(number), "x") for number in (4, 3, 2, 1)]
    assert [d.title for d in visible_documents("ann", documents, OnlyEven())] == ["2", "4"]
