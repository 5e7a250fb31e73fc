from shelfgate.directory import Document, load
from shelfgate.gate import Gate
from shelfgate.listing import visible_documents


def test_load_reads_rows():
    plain, full = load(["Plan|ann", "Tax|bob|ann, cy|archived"])
    assert plain == Document("Plan", "ann")
    assert full == Document("Tax", "bob", frozenset({"ann", "cy"}), True)


def test_gate_knows_the_rules():
    gate = Gate(["root"])
    assert gate.denies("ann", Document("Tax", "bob"))
    assert not gate.denies("root", Document("Tax", "bob"))
    assert not gate.denies("bob", Document("Tax", "bob"))


def test_no_documents_no_listing():
    assert visible_documents("ann", [], Gate()) == []
