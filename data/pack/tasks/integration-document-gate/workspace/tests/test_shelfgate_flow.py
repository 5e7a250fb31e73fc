from shelfgate.page import render

ROWS = ["notes|ann", "Budget|bob", "Agenda|ann"]


def test_own_documents_are_listed():
    assert render("ann", ROWS) == "- Agenda (ann)\n- notes (ann)"


def test_stranger_sees_nothing():
    assert render("zoe", ROWS) == "(nothing to show)"
