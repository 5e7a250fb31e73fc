"""Whether a reference solution can be read where the agent looks."""

from __future__ import annotations

import pytest

from stages.contract.trees import FILE, Entry
from stages.packs import leaked_solution, starred

OLD = "def total(prices):\n    result = 0\n    return result\n"
NEW = """\
def total(prices):
    result = sum(price for price in prices if price is not None)
    rounded = round(result, ndigits=2)
    checked = max(rounded, 0.0)
    return checked
"""
SOLUTION = [Entry("shop.py", "100644", NEW.encode())]
TREE = [Entry("shop.py", "100644", OLD.encode()), Entry("README.md", "100644", b"A shop.\n")]


def leak(tree: list[Entry] = TREE, statement: str = "Sum the prices.", solution: list[Entry] = SOLUTION) -> str | None:
    return leaked_solution(solution, tree, statement.encode())


def with_file(name: str, text: str) -> list[Entry]:
    return [*TREE, Entry(name, "100644", text.encode())]


def test_an_ordinary_task_leaks_nothing() -> None:
    assert leak() is None


def test_the_solution_in_the_statement_is_found() -> None:
    assert "the statement" in str(leak(statement=f"Do this:\n\n{NEW}"))


@pytest.mark.parametrize("mark", ["# ", "    #", "// ", "> ", "* ", "\t"])
def test_a_commented_out_solution_is_found(mark: str) -> None:
    text = "\n".join(mark + line for line in NEW.splitlines())
    assert "workspace/notes.py" in str(leak(with_file("notes.py", text)))


def test_the_solution_under_another_name_is_found() -> None:
    assert "workspace/backup.txt" in str(leak(with_file("backup.txt", NEW)))


def test_a_file_that_the_overlay_leaves_as_it_is_is_no_leak() -> None:
    same = Entry("long.py", "100644", b"x = 'a line that is long enough to be a leak if it were new'\n" * 5)
    assert leak([*TREE, same], solution=[*SOLUTION, same]) is None


def test_a_line_that_anybody_would_write_is_no_leak() -> None:
    solution = [Entry("shop.py", "100644", OLD.replace("0", "1").encode())]
    assert leak(with_file("other.py", "result = 1\n"), solution=solution) is None


def test_bytes_that_are_no_text_are_searched_too() -> None:
    blob = Entry("blob", "100644", b"\xff\xfe\n" + NEW.encode() + b"\n\xff")
    assert "workspace/blob" in str(leak([*TREE, blob]))


def test_a_leak_is_found_in_files_too_long_to_compare_line_by_line() -> None:
    long = [Entry("long.py", "100644", b"    return None\n" * 40_000)]
    solution = [Entry("long.py", "100644", long[0].content + NEW.encode())]
    assert leak(long, solution=solution) is None
    assert "workspace/notes.py" in str(leak([*long, Entry("notes.py", "100644", NEW.encode())], solution=solution))


SHORT = [Entry("shop.py", "100644", OLD.replace("result = 0", "result = sum(prices)").encode())]


@pytest.mark.parametrize(
    ("tree", "statement", "where"),
    [
        (TREE, "It should say `result = sum(prices)` there.", "the statement"),
        (TREE, "It should say\n\n    result  =  sum(prices)\n", "the statement"),
        (with_file("other.py", "x = 1  # not result = sum(prices)\n"), "Sum.", "workspace/other.py"),
        (with_file("fix.patch", "-    result = 0\n+    result = sum(prices)\n"), "Sum.", "workspace/fix.patch"),
    ],
)
def test_a_line_of_a_short_edit_is_found_where_something_is_told(tree: list[Entry], statement: str, where: str) -> None:
    assert (
        leak(tree, statement, SHORT) == f"a line of the solution's shop.py is told in {where}: 'result = sum(prices)'"
    )


@pytest.mark.parametrize("line", ["import collections.abc", "from shop import total, tax", "x = 1", "return None", "}"])
def test_a_short_line_that_says_nothing_is_no_leak_wherever_it_stands(line: str) -> None:
    solution = [Entry("shop.py", "100644", OLD.replace("result = 0", line).encode())]
    assert leak(with_file("notes.txt", f"{line}\n"), f"Use\n\n    {line}\n", solution) is None


def test_a_short_edit_that_other_code_has_too_is_no_leak() -> None:
    assert leak(with_file("other.py", "    result = sum(prices)\n"), solution=SHORT) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from till import *\n", "test_it.py:1 imports * from till"),
        ("import os\n\n\ndef test_a():\n    pass\n\n\nfrom till.money import *\n", "test_it.py:8 imports * from till.money"),
        ("from till import total\nfrom os.path import *\nfrom .helper import *\n", None),
        ("from tillage import *\n", None),
        ("from till import (\n", None),
    ],
)  # fmt: skip
def test_an_oracle_does_not_let_the_code_under_test_name_its_checks(text: str, found: str | None) -> None:
    tree = [Entry("till/money.py", FILE, b""), Entry("notes.md", FILE, b"")]
    assert starred([Entry("test_it.py", FILE, text.encode())], tree) == found
