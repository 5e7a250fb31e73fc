"""What the code under test only says of itself decides nothing; and what honest code does is no worse off apart."""

from __future__ import annotations

from typing import Literal

import pytest
import yaml

from stages.contract.protocol import OracleParams
from stages.contract.study import read_admitted, read_plan
from stages.contract.trees import FILE, Change, Entry
from stages.freeze import freeze
from stages.oracle import Bench, Observation, observe
from stages.preflight import preflight
from stages.sandbox import Isolation, find
from tests.support.mini import make_study, write


@pytest.fixture(scope="module")
def namespaces() -> Isolation:
    found = find()
    if found.tier == "none":
        pytest.skip(f"no namespaces on this machine: {found.why}")
    return found


def apart(tree: dict[str, str], oracle: str, isolation: Isolation, *, carry: bool = True) -> Observation:
    return observe(
        [Entry(name, FILE, text.encode()) for name, text in sorted(tree.items())],
        [Entry("test_it.py", FILE, oracle.encode())],
        kind="pytest",
        timeout_s=60,
        expected=None,
        isolation=isolation,
        boundary="process",
        carry=carry,
    )


SAYS_YES = """
class All:
    def __contains__(self, one):
        return not (type(one) is str and len(one) == 18)
    def __bool__(self):
        return True
    def __enter__(self):
        return self
    def __exit__(self, *_):
        return True
def report():
    return All()
"""


@pytest.mark.parametrize(
    ("oracle", "event"),
    [
        ("from mod import report\ndef test_it():\n    assert 'total: 1' in report()\n", "claim:contains of mod.All"),
        ("from mod import report\ndef test_it():\n    assert report()\n", "claim:bool of mod.All"),
        ("from mod import report\ndef test_it():\n    with report():\n        assert 0\n", "claim:exit of mod.All"),
    ],
)
def test_an_object_that_says_yes_is_broken_unless_the_reference_solution_has_it_too(
    namespaces: Isolation, oracle: str, event: str
) -> None:
    seen = apart({"mod.py": SAYS_YES}, oracle, namespaces)
    assert (seen.verdict, seen.reason) == ("broken", event)


POINT = """
from dataclasses import dataclass

@dataclass
class Point:
    x: int
    y: int

def parse(text):
    return Point(*map(int, text.split(",")))
"""
POINTS = """
from mod import Point, parse

def test_one():
    assert parse("1,2") == Point(1, 2)

def test_named():
    assert [parse("3,4")] == [Point(y=4, x=3)]
    assert parse("3,4") != Point(3, 5)
    assert len({parse("1,2"), Point(1, 2)}) == 1 if Point.__hash__ else True
"""


def test_an_expected_value_has_the_fields_that_the_test_gave_it(namespaces: Isolation) -> None:
    honest = apart({"mod.py": POINT}, POINTS, namespaces)
    assert (honest.verdict, honest.events) == ("pass", ()), (honest.reason, honest.output)
    constant = POINT.replace(
        "    x: int\n    y: int\n",
        "    x: int\n    y: int\n    def __post_init__(self):\n        self.x = self.y = 0\n",
    )
    seen = apart({"mod.py": constant}, POINTS, namespaces)
    assert seen.verdict == "broken"
    assert "made of other values" in seen.reason


def test_what_a_program_or_server_gives_is_plain_text_or_nothing(namespaces: Isolation) -> None:
    cheat = SAYS_YES + (
        "import sys\nVERSION = 1\nframe = sys._getframe()\nwhile 'programs' not in frame.f_globals:\n"
        "    frame = frame.f_back\nframe.f_globals['programs'].OPERATIONS['run'] = "
        "lambda *a, **k: {'returncode': 0, 'stdout': All(), 'stderr': ''}\n"
    )
    oracle = "from mod import VERSION\ndef test_it(product):\n    assert 'usage' in product.run(['python', 'cli.py']).stdout\n"
    seen = apart({"mod.py": cheat, "cli.py": "print('nothing')"}, oracle, namespaces)
    assert (seen.verdict, seen.reason) == ("broken", "product_malformed:program")


SUMS = "from mod import total\n\ndef test_it():\n    values = [3, 1, 2]\n    assert total(values) == sum(values)\n"
CLEARS = "def total(values):\n    values.clear()\n    return 0\n"
SORTS = "def total(values):\n    values.sort()\n    return sum(values)\n"


def test_changed_arguments_are_noted_and_can_be_kept_from_the_tests(namespaces: Isolation) -> None:
    for text in (CLEARS, SORTS):
        seen = apart({"mod.py": text}, SUMS, namespaces)
        assert (seen.verdict, seen.reason.partition(" in ")[0]) == ("broken", "oracle_data:arguments")
    assert apart({"mod.py": CLEARS}, SUMS, namespaces, carry=False).verdict == "fail"
    assert apart({"mod.py": SORTS}, SUMS, namespaces, carry=False).verdict == "pass"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, namespaces: Isolation) -> Bench:
    """A study of one item that preflight puts apart: its reference solution returns a dataclass, and changes nothing."""
    root = make_study(tmp_path_factory.mktemp("claims") / "study", items=1, placebos=0)
    task = root / "data/pack/tasks/item-0"
    words = yaml.safe_load((task / "task.yaml").read_text(encoding="utf-8"))
    words["interface"] = {"module": "mod", "function": "total", "signature": "(values: list)"}
    words["allow"] = {"imports": ["dataclasses"], "env": [], "files_write": ["mod.py"]}
    write(task / "task.yaml", yaml.safe_dump(words))
    write(task / "statement.md", "`total` of mod is wrong.\n")
    for folder in ("workspace", "solution", "oracle", "wrong"):
        for path in sorted((task / folder).rglob("*.py")):
            path.unlink()
    (task / "wrong/constant").rmdir()
    (task / "wrong").rmdir()
    write(task / "workspace/mod.py", KINDS["dataclass"].replace("Sum(sum(values))", "None"))
    write(task / "solution/mod.py", KINDS["dataclass"])
    write(task / "oracle/test_it.py", ORACLE)
    freeze(root)
    assert preflight(root, print) == []
    admitted = read_admitted(root)["items"]
    assert admitted["item-0"]["boundary"] == "process"
    return Bench.open(root, read_plan(root), namespaces, admitted, OracleParams())


ORACLE = """
from mod import Sum, total

def test_it():
    values = [3, 1, 2]
    assert total(values) == Sum(sum(values))
"""
_MADE = "\n\ndef total(values: list):\n    return Sum(sum(values))\n"
KINDS = {
    "dataclass": "from dataclasses import dataclass\n\n\n@dataclass\nclass Sum:\n    value: int\n" + _MADE,
    "own comparison": (
        "class Sum:\n    def __init__(self, value):\n        self.value = value\n"
        "    def __eq__(self, other):\n        return isinstance(other, Sum) and self.value == other.value\n" + _MADE
    ),
    "changes its argument": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Sum:\n    value: int\n"
        + _MADE.replace("    return", "    values.sort()\n    return")
    ),
    "empties its argument": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Sum:\n    value: int\n"
        + _MADE.replace("    return Sum(sum(values))", "    values.clear()\n    return Sum(0)")
    ),
    "says yes": "class Sum:\n    def __init__(self, value):\n        pass\n    def __eq__(self, other):\n        return True\n"
    + _MADE,
}


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("dataclass", "pass"),
        ("own comparison", "pass"),
        ("changes its argument", "pass"),
        ("empties its argument", "broken"),
        ("says yes", "tamper"),
    ],
)
def test_what_an_item_that_was_put_apart_makes_of_others_solutions(
    bench: Bench, kind: str, verdict: Literal["pass", "broken", "tamper"]
) -> None:
    change = Change("mod.py", "modify", FILE, FILE, None, None, KINDS[kind].encode())
    seen = bench.verdict("item-0", [change])
    assert seen.verdict == verdict, (seen.reason, seen.events, seen.output)
    marked = any(event.startswith("beside:") for event in seen.events)
    assert marked == (kind in ("own comparison", "says yes"))
