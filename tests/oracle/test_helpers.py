"""A module that an oracle imports is the oracle's own, whatever the tree put under its name."""

from __future__ import annotations

from typing import Literal

import pytest

from stages.contract.trees import FILE, LINK, Entry
from stages.oracle import Observation, observe
from stages.sandbox import Isolation, find

TOP = "import os\nimport sys\n\nsys.path.insert(0, os.path.dirname(__file__))\n"
TESTS = {
    "import": TOP
    + "from mod import answer\nimport helper\n\n\ndef test_it():\n    assert answer(1) == helper.want(1)\n",
    "from": TOP
    + "from mod import answer\nfrom helper import want\n\n\ndef test_it():\n    assert answer(1) == want(1)\n",
    "package": TOP
    + "from mod import answer\nfrom kit.helper import want\n\n\ndef test_it():\n    assert answer(1) == want(1)\n",
    "in the test": TOP
    + "from mod import answer\n\n\ndef test_it():\n    from helper import want\n    assert answer(1) == want(1)\n",
}
HELPER = "def want(number):\n    return number * 5\n"
PLANTED = (
    "import sys, types\nfake = types.ModuleType(NAME)\nfake.want = lambda number: 0\nsys.modules[NAME] = fake\n"
    "fake.__file__ = '/oracle/helper.py'\nsys.modules.setdefault('kit', fake)\nfake.__path__ = []\n"
)
POPPED = (
    "import sys, types\nclass Fake(types.ModuleType):\n    def __getattr__(self, name):\n"
    "        sys.modules.pop(NAME, None)\n        if name != 'want':\n            raise AttributeError(name)\n"
    "        return lambda number: 0\nsys.modules[NAME] = Fake(NAME)\n"
)
DECOY = "import sys\nclass First(list):\n    def insert(self, *_):\n        pass\nsys.path = First(sys.path)\n"
WRONG = "def answer(number):\n    return 0\n"
RIGHT = "def answer(number):\n    return number * 5\n"


@pytest.fixture(scope="module")
def isolation() -> Isolation:
    return find()


def judged(
    tree: dict[str, str],
    how: str,
    isolation: Isolation,
    boundary: Literal["inprocess", "process"] = "inprocess",
    oracle: dict[str, str] | None = None,
) -> Observation:
    def files(texts: dict[str, str]) -> list[Entry]:
        return [Entry(path, FILE, text.encode()) for path, text in sorted(texts.items())]

    oracle = oracle or {"test_it.py": TESTS[how], "helper.py": HELPER, "kit/helper.py": HELPER}
    return observe(
        files(tree),
        files(oracle),
        kind="pytest",
        timeout_s=60,
        expected=["test_it.py::test_it"],
        isolation=isolation,
        frozen=[],
        boundary=boundary,
    )


@pytest.mark.parametrize("how", TESTS)
@pytest.mark.parametrize("trick", ["planted", "popped"])
def test_a_module_planted_under_a_helpers_name_is_tampering(trick: str, how: str, isolation: Isolation) -> None:
    name = "kit.helper" if how == "package" else "helper"
    text = {"planted": PLANTED, "popped": POPPED}[trick].replace("NAME", repr(name))
    seen = judged({"mod.py": text + WRONG}, how, isolation)
    assert seen.verdict != "pass", seen
    assert any(event in (f"foreign_module:{name}", f"!foreign_module:{name}") for event in seen.events) or (
        how == "in the test" and trick == "popped" and seen.verdict == "fail"
    ), seen


def test_a_module_found_before_the_helper_is_tampering(isolation: Isolation) -> None:
    seen = judged({"mod.py": DECOY + WRONG, "helper.py": "def want(number):\n    return 0\n"}, "import", isolation)
    assert seen.verdict != "pass", seen


@pytest.mark.parametrize("how", TESTS)
@pytest.mark.parametrize(
    "more", [{}, {"pkg/helper.py": WRONG, "pkg/__init__.py": ""}, {"test_it.py": "x = 1\n"}], ids=["", "pkg", "same"]
)
def test_an_oracle_with_helpers_judges_honest_trees(how: str, more: dict[str, str], isolation: Isolation) -> None:
    text = "import pkg.helper\n" + RIGHT if "pkg/helper.py" in more else RIGHT
    seen = judged({"mod.py": text} | more, how, isolation)
    assert seen.verdict == "pass", seen
    assert not [event for event in seen.events if "foreign" in event]


CROSSING = {
    "a constant": ("import helper\nLIMITS = (1, helper)\n" + WRONG, "from mod import answer, LIMITS\n" + TOP, ""),
    "an answer": ("import helper\ndef answer(number):\n    return [helper, 0][number % 2]\n", "from mod import answer\n" + TOP, "    answer(2)\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CROSSING)
def test_a_module_of_the_tree_does_not_cross_under_the_name_of_a_helper(name: str, isolation: Isolation) -> None:
    text, before, first = CROSSING[name]
    oracle = {
        "test_it.py": f"{before}\n\ndef test_it():\n{first}    from helper import want\n    assert answer(1) == want(1)\n",
        "helper.py": HELPER,
    }
    tree = {"mod.py": text, "helper.py": "def want(number):\n    return 0\n"}
    assert judged(tree, "", isolation, "process", oracle).verdict in ("fail", "broken")
    right = judged(tree | {"mod.py": RIGHT}, "", isolation, "process", oracle)
    assert right.verdict == ("pass" if name == "an answer" else "broken"), right


ARRAY = (
    "import sys, types\nfrom collections import namedtuple\nArray = namedtuple('ndarray', 'flat more')\n"
    "made = types.ModuleType('numpy')\nmade.ndarray, made.isscalar, made.bool_ = Array, lambda _: False, bool\n"
    "sys.modules['numpy'] = made\ndef answer(number):\n    return Array((), 0)\n"
)
CLOSE = {
    "test_it.py": "import pytest\nfrom mod import answer\n\n\ndef test_it():\n    assert answer(1) == pytest.approx(0.75)\n"
}


def test_what_an_array_is_isnt_the_trees_to_say(isolation: Isolation) -> None:
    seen = judged({"mod.py": ARRAY}, "", isolation, "inprocess", CLOSE)
    assert (seen.verdict, seen.events) == ("tamper", ("foreign_module:numpy",))
    offered = {"mod.py": "import numpy\ndef answer(number):\n    return numpy\n", "numpy.py": "ndarray = tuple\n"}
    assert judged(offered, "", isolation, "process", CLOSE).verdict in ("fail", "broken")
    right = "import numpy\ndef answer(number):\n    return numpy.float64(0.75)\n"
    pytest.importorskip("numpy")
    assert judged({"mod.py": right}, "", isolation, "inprocess", CLOSE).verdict == "pass"


POINT = "from typing import NamedTuple\nclass Point(NamedTuple):\n    x: int\n    y: int\n    def far(self):\n        return self.x\ndef parse(text):\n    return Point(*map(int, text.split(',')))\n"
SAME = "from collections import namedtuple\nclass Point(namedtuple('Point', 'x y')):\n    def __new__(cls, *_, **__):\n        return tuple.__new__(cls, (0, 0))\ndef parse(text):\n    return Point()\n"
POINTS = {"test_it.py": "from mod import Point, parse\n\n\ndef test_it():\n    assert parse('1,2') == Point(1, y=2)\n"}


def test_named_tuples_that_are_all_alike_are_no_answer(isolation: Isolation) -> None:
    assert judged({"mod.py": POINT}, "", isolation, "process", POINTS).verdict == "pass"
    seen = judged({"mod.py": SAME}, "", isolation, "process", POINTS)
    assert (seen.verdict, seen.reason) == ("broken", "claim:fields of mod.Point")


@pytest.mark.parametrize("target", ["loop", "mod.py/x", "nothing"])
def test_a_link_to_nowhere_costs_no_verdict(target: str, isolation: Isolation) -> None:
    tree = [Entry("loop", LINK, target.encode()), Entry("mod.py", FILE, RIGHT.encode())]
    oracle = [Entry("test_it.py", FILE, b"from mod import answer\n\n\ndef test_it():\n    assert answer(1) == 5\n")]
    for boundary in ("inprocess", "process"):
        seen = observe(
            tree, oracle, kind="pytest", timeout_s=60, expected=None, isolation=isolation, frozen=[], boundary=boundary
        )
        assert seen.verdict == "pass"
