"""Which identifiers may get another name: those of the task, wherever they stand, and nobody else's."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from stages.contract.task import Task
from stages.contract.trees import EXECUTABLE, FILE, LINK, Entry
from stages.contract.types import validate
from stages.packs.mutate import Mutation, mutate_item
from stages.packs.mutate_names import new_name
from stages.packs.mutate_text import code_parts, replace_remark, replace_spans
from stages.packs.read import FrozenItem


@dataclass(frozen=True)
class Mutated:
    item: FrozenItem
    done: Mutation

    def text(self, path: str) -> str:
        """A file of the workspace or oracle, under its new names."""
        return next(e.content.decode() for e in [*self.item.tree, *self.item.oracle] if e.path == path)


def mutated_task(
    workspace: dict[str, str],
    oracle: str = "def test_nothing():\n    pass\n",
    statement: str = "Mend it.\n",
    links: dict[str, str] | None = None,
    tool: str | None = None,
    budget: int | bool = True,
) -> Mutated:
    """A task of these files under seed 5. The pinned interface is `mod.pinned(first_word)`."""
    tree = [Entry(path, FILE, text.encode()) for path, text in workspace.items()]
    tree += [Entry(path, LINK, to.encode()) for path, to in (links or {}).items()]
    tree += [Entry("tool.py", EXECUTABLE, tool.encode())] if tool else []
    task = {
        "id": "sample",
        "rev": "1",
        "stratum": "s",
        "interface": {"module": "mod", "function": "pinned", "signature": "(first_word: Given) -> Given"},
        "allow": {"imports": ["allowed_module"], "env": ["ALLOWED_NAME"], "files_write": ["mod.py"]},
        "mutation_budget": {"rename_identifiers": budget},
        "canaries": ["canary-word-1234"],
    }
    hidden = [Entry("test_it.py", FILE, oracle.encode())]
    item = FrozenItem(validate(Task, task, "task.yaml"), statement.encode(), sorted(tree), hidden, [], {})
    return Mutated(*mutate_item(item, 5))


def renamed(source: str, **more: object) -> set[str]:
    return set(mutated_task({"mod.py": source}, **more).done.renamed)  # type: ignore[arg-type]


def kept(source: str, **more: object) -> dict[str, str]:
    return mutated_task({"mod.py": source}, **more).done.kept  # type: ignore[arg-type]


CLASS = """\
__all__ = ["Harbour", "pinned"]


class Harbour:
    \"\"\"A harbour; `Harbour` holds _berths and ``moor`` fills them.\"\"\"

    def __init__(self, berths: int):
        self._berths = berths  # see _berths and moor, and `moor`

    def moor(self, ship_name: str) -> str:
        return f"{ship_name!r:>{self._berths}}"


def pinned(first_word):
    return Harbour(berths=3).moor(first_word)
"""


def test_one_spelling_gets_one_new_name_in_every_place() -> None:
    oracle = "import mod\n\n\ndef test_it():\n    assert mod.Harbour(berths=2)._berths == 2\n"
    made = mutated_task({"mod.py": CLASS}, oracle, "`Harbour(berths=…)` has `_berths`.\n\n    Harbour(1).moor('x')\n")
    new = made.done.renamed
    assert set(new) == {"Harbour", "moor", "_berths", "berths", "ship_name"}
    harbour, moor, inner, berths, ship = (new[n] for n in ("Harbour", "moor", "_berths", "berths", "ship_name"))
    assert made.text("mod.py") == (
        CLASS.replace("A harbour; `Harbour`", f"A harbour; `{harbour}`")
        .replace("Harbour", harbour)
        .replace("_berths", inner)
        .replace("berths", berths)
        .replace("ship_name", ship)
        .replace("def moor", f"def {moor}")
        .replace(").moor", f").{moor}")
        .replace("``moor``", f"``{moor}``")
        .replace("`moor`", f"`{moor}`")
    )
    assert f"mod.{harbour}({berths}=2).{inner}" in made.text("test_it.py")
    assert made.item.statement.decode() == (f"`{harbour}({berths}=…)` has `{inner}`.\n\n    {harbour}(1).{moor}('x')\n")


OUTSIDE = {
    "an import": ("from json import loads\n", "loads"),
    "a module": ("import textwrap\n", "textwrap"),
    "a member of a module": ("import json as data_format\n\n\ndef dumps(): return data_format.dumps(1)\n", "dumps"),
    "a member of a built-in type": ("class Own:\n    def popitem(self): ...\n", "popitem"),
    "a keyword of a builtin": ("def smallest(default): return min([], default=default)\n", "default"),
    "a keyword from elsewhere": (
        "from dataclasses import dataclass, replace\n\n\n@dataclass\nclass Own:\n    depth_m: int\n\n\n"
        "def lower(own, depth_m): return replace(own, depth_m=depth_m)\n",
        "depth_m",
    ),
    "a keyword of what was handed in": ("def call(back, depth_m): return back(depth_m=depth_m)\n", "depth_m"),
    "a keyword that is data": (
        "def row(**columns): return columns\n\n\ndef use(depth_m): return row(depth_m=1)\n",
        "depth_m",
    ),
    "a hook of a base": (
        "from html.parser import HTMLParser\n\n\nclass Own(HTMLParser):\n    def handle_own(self): ...\n",
        "handle_own",
    ),
    "an option": (
        "import argparse\n\n\ndef pinned(parser):\n    dry_run = parser.add_argument('--dry-run')\n    return dry_run\n",
        "dry_run",
    ),
    "a builtin that is shadowed elsewhere": (
        "def sorted_up(things): return sorted(things)\n\n\nclass A:\n    sorted = 1\n",
        "sorted",
    ),
    "a builtin that a comprehension shadows": ("many = [id for id in (1, 2)]\n\n\ndef own(x): return id(x)\n", "id"),
    "a builtin that is bound to itself": ("sorted = sorted\n", "sorted"),
    "what a foreign decorator sees": (
        "import atexit\n\n\n@atexit.register\ndef closing(word_count=1): ...\n",
        "closing",
    ),
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_names_from_outside_stay(case: str) -> None:
    source, name = OUTSIDE[case]
    assert name not in renamed(source), case


TEXT = {
    "a constant getattr": ("def tidy(thing): return getattr(thing, 'tide_table')\n\n\ndef tide_table(): ...\n", "text"),
    "a key": ("def tide_table(row): return row['tide_table']\n", "text"),
    "a format": ("def tide_table(row): return '{0.tide_table}'.format(row)\n", "text"),
    "escapes": ("def tide_table(row): return row['tide\\x5ftable']\n", "text"),
    "self-documenting": ("def pinned(first_word):\n    tide_table = 1\n    return f'{tide_table=}'\n", "text"),
    "slots": ("class Own:\n    __slots__ = ('tide_table',)\n    def fill(self): self.tide_table = 1\n", "text"),
    "docstrings that are read": ('def tide_table():\n    """tide_table"""\n\n\nprint(tide_table.__doc__)\n', "text"),
    "a computed getattr": ("def pick(own, what): return getattr(own, what)\n\n\ndef tide_table(): ...\n", "computed"),
    "a getattr handed on": ("def tide_table(): ...\n\n\nread = map(getattr, [], [])\n", "computed"),
    "names as data": ("def tide_table(): ...\n\n\nprint(tide_table.__name__)\n", "computed"),
    "eval": ("def pinned(first_word):\n    tide_table = 1\n    return eval(first_word)\n", "computed"),
    "a getattr by another name": ("from operator import attrgetter as read\n\n\ntide_table = read(input())\n", "computed"),
    "builtins themselves": ("import builtins as b\n\n\ndef tide_table(x): return b.eval(x)\n", "computed"),
    "a hook for members": ("class Own:\n    def __getattr__(self, name): ...\n    tide_table = 1\n", "computed"),
    "fields as data": ("from dataclasses import asdict\n\n\ndef tide_table(x): return asdict(x)\n", "computed"),
    "a package that nobody knows": ("import numpy\n\n\nclass Own:\n    tide_table = 1\n", "unknown"),
    "a star from outside": ("from os import *\n\n\ndef tide_table(): ...\n", "computed"),
    "a name that folds to it": ("def tide_table(): ...\n\n\nｔide_table()\n", "text"),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXT)
def test_a_name_that_text_may_reach_stays_and_it_is_said_why(case: str) -> None:
    source, why = TEXT[case]
    assert kept(source).get("tide_table") == why


def test_what_a_computed_name_can_t_reach_is_still_renamed() -> None:
    assert renamed(
        "def pinned(first_word, own):\n    local_sum = 1\n    return getattr(own, first_word) + local_sum\n"
    ) == {
        "own",
        "local_sum",
    }


def test_the_interface_declared_names_files_and_conventions_stay() -> None:
    source = (
        "from other_file import Given\n\n\n"
        "def pinned(first_word): return first_word\n\n\n"
        "def other_file(self, cls, x, allowed_module, ALLOWED_NAME, __hidden, canary, word): ...\n"
    )
    made = mutated_task({"mod.py": source, "other_file.py": "class Given: ...\n"})
    assert made.done.renamed == {}
    assert made.done.kept["Given"] == "pinned"
    assert made.item.task.rev == "1", "a task that nothing changes in is the very same task"


def test_what_pytest_finds_by_name_stays() -> None:
    source = "import pytest\n\n\n@pytest.fixture\ndef harbour_one(quay_one): ...\n\n\ndef test_quay(harbour_one): ...\n"
    assert kept(source) == dict.fromkeys(["harbour_one", "quay_one", "test_quay"], "tests")


def test_a_name_in_prose_or_in_another_language_s_file_stays() -> None:
    source = "def tide_table(): ...\n\n\ndef moon_table(): ...\n\n\ndef sun_table(): ...\n"
    made = mutated_task({"mod.py": source, "a.js": "moon_table()"}, statement="Mend tide_table, or `sun_table`.\n")
    assert set(made.done.renamed) == {"sun_table"}
    assert made.done.kept == {"tide_table": "prose", "moon_table": "text"}
    assert made.done.foreign == ["workspace/a.js"]


def test_a_copy_of_a_python_file_under_another_name_is_text() -> None:
    source = "def tide_table(): ...\n"
    made = mutated_task({"mod.py": source, "golden.txt": source})
    assert made.done.kept == {"tide_table": "text"}
    assert made.text("golden.txt") == made.text("mod.py") == source


BROKEN = {
    "no Python": "def tide_table(:\n",
    "another encoding": "# -*- coding: latin-1 -*-\ndef tide_table(): ...\n",
    "deep nesting": f"tide_table = {'-' * 300}1\n",
    "deeper nesting": f"tide_table = {'(' * 5000}1{')' * 5000}\n",
    "a long sum": f"tide_table = 1{'+1' * 20000}\n",
    "a null": "tide_table = 1\0\n",
    "a mark": "\ufefftide_table = 1\n",
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_that_can_t_be_followed_keeps_its_names_everywhere(case: str) -> None:
    made = mutated_task({"mod.py": "def tide_table(): ...\n\n\ndef moon_table(): ...\n", "other.py": BROKEN[case]})
    assert made.done.kept["tide_table"] == "text"
    assert set(made.done.renamed) == {"moon_table"}
    assert made.text("other.py") == BROKEN[case]


def test_the_most_identifying_names_go_first() -> None:
    source = (
        "class Quay:\n    def _innermost(self, berth_no):\n        self.depth_m = berth_no\n\n\ndef outer_one(): ...\n"
    )
    order = ["_innermost", "Quay", "outer_one", "depth_m", "berth_no"]
    for budget in range(1, 6):
        made = mutated_task({"mod.py": source}, budget=budget)
        assert list(made.done.renamed) == order[:budget]
        assert {name for name, why in made.done.kept.items() if why == "budget"} == set(order[budget:])


def test_new_names_have_the_shape_of_the_old_and_meet_nothing() -> None:
    first = new_name(5, "sample", "_tide_table", ())
    assert first == new_name(5, "sample", "_tide_table", ())
    assert len({first, new_name(6, "sample", "_tide_table", ()), new_name(5, "other", "_tide_table", ())}) == 3
    assert new_name(5, "sample", "_tide_table", (first,)) != first
    for old in ("_tide_table", "TideTable", "TIDE_TABLE", "tide2table", "aB"):
        new = new_name(1, "i", old, ())
        assert new.isidentifier()
        assert [c for c in new if not c.isalpha()] == [c for c in old if not c.isalpha()]
        assert new.isupper() == old.isupper()
        assert new[0].isupper() == old[0].isupper()


def test_code_of_a_statement_is_told_from_its_prose() -> None:
    text = (
        "# tide `tide`\n\ntide ``a `tide` b``\n\n    tide()\n\n- a list\n\n    tide stays\n\n"
        "~~~ tide\ntide ``` x\n~~~\n\n`open tide\n\ntide` again\n"
    )
    assert "".join(part for _, part in code_parts(text)) == text
    assert replace_spans(text, {"tide": "NEW"}) == (
        "# tide `NEW`\n\ntide ``a `NEW` b``\n\n    NEW()\n\n- a list\n\n    tide stays\n\n"
        "~~~ tide\nNEW ``` x\n~~~\n\n`open tide\n\ntide` again\n"
    )


def test_remarks_keep_their_prose_and_their_escapes() -> None:
    names = {"moor": "NEW", "_berths": "_new", "n_moor": "n_new"}
    assert replace_remark("moor `moor` _berths \\n_moor xmoor", names) == "moor `NEW` _new \\n_moor xmoor"
    assert replace_remark("moor\n>>> moor()\n", names) == "NEW\n>>> NEW()\n"
