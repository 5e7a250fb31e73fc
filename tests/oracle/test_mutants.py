"""Mutants of a reference solution: which there are, which are drawn, and that a weak oracle lets them live."""

from __future__ import annotations

import json
import shutil
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from stages.contract import layout, parquet, tables
from stages.contract.errors import InputError
from stages.contract.protocol import Protocol
from stages.contract.trees import Entry, overlaid
from stages.exclude import exclude
from stages.freeze import freeze
from stages.gate.weak import check_weak
from stages.oracle.mutants import MOST, changed_lines, mutants
from stages.oracle.operators import Unmutable, edits
from stages.oracle.probes import noop
from stages.oracle.verdict import observe_item
from stages.preflight import preflight
from stages.run import run
from stages.sandbox import find
from stages.score import score
from tests.support.mini import make_study, write, write_params


def file(text: str, path: str = "m.py") -> Entry:
    return Entry(path, "100644", text.encode())


def made(source: str, *lines: int) -> set[str]:
    """Every edit of these lines (all, if none is named), carried out, as the text of the lines that differ."""
    raw = source.encode()
    wanted = set(lines) or set(range(1, source.count("\n") + 1))
    found = set()
    for edit in edits(raw, wanted):
        new, old = edit.made(raw).decode().split("\n"), source.split("\n")
        found.add(" / ".join(n.strip() for n, o in zip(new, old, strict=True) if n != o))
    return found


SOLVED = """\
def first(values, limit):
    \"\"\"The first few.\"\"\"
    found = []
    for value in values:
        if value < limit and not value % 2:
            found.append(value)
            break
    return found[:3]
"""
BY_HAND = {
    "if (value <= limit) and not value % 2:",
    "if (value < limit or not value % 2):",
    "if value < limit and (value % 2):",
    "if value < limit and not (value * 2):",
    "if value < limit and not value % (3):",
    "if value < limit and not value % (1):",
    "if (not (value < limit and (not value % 2))):",
    "pass",
    "continue",
    "found = None",
    "return None",
    "return found[:(4)]",
    "return found[:(2)]",
    "return found[1:3]",
}


def test_the_mutants_of_a_small_function_are_those_enumerated_by_hand() -> None:
    assert made(SOLVED) == BY_HAND


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("x = a + b", {"x = (a - b)", "x = None"}),
        ("x = a == b", {"x = (a != b)", "x = None"}),
        ("x = a < b <= c", {"x = (a <= b <= c)", "x = (a < b < c)", "x = None"}),
        ("x = True", {"x = (False)"}),
        ("x = ''", {"x = ('mutant')"}),
        ("x = 'é' + a[1:]", {"x = ('') + a[1:]", "x = 'é' + a[(2):]", "x = 'é' + a[(0):]", "x = 'é' + a[1:-1]", "x = None"}),
        ("x += 1", {"x -= 1", "x += (2)", "x += (0)", "pass"}),
        ("x.y = z", {"pass"}),
        ("raise E('words')", {"pass"}),
        ("x = [v for v in w if v > 0]",
         {"x = [v for v in w if (v >= 0)]", "x = [v for v in w if v > (1)]", "x = [v for v in w if v > (-1)]",
          "x = [v for v in w if (not v > 0)]", "x = None"}),
        ("x = f'{a + 1}'", {"x = None"}),
        ("x: int = 3", {"x: int = (4)", "x: int = (2)"}),
        ("__all__ = ['x']", set()),
        ("import os, sys", set()),
        ("logger.info('x %s', 1 + 2)", set()),
        ("'''a docstring'''", set()),
    ],
)  # fmt: skip
def test_a_line_has_these_mutants_and_no_other(line: str, wanted: set[str]) -> None:
    assert made(f"{line}\n") == wanted


def test_annotations_decorators_and_blocks_for_type_checkers_are_left_alone() -> None:
    source = "@keep(1)\ndef f(a: Literal[1] = None) -> Literal[2]: ...\nif TYPE_CHECKING:\n    x = 1 + 1\n"
    assert made(source) == set()


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_places_are_right_after_wide_letters_form_feeds_and_with_any_line_ends(ends: str) -> None:
    source = f"# 🐍 ü\x0c{ends}s = 'ü🐍' ; x = a + b{ends}".encode()
    texts = {edit.made(source).decode() for edit in edits(source, {2})}
    assert f"# 🐍 ü\x0c{ends}s = 'ü🐍' ; x = (a - b){ends}" in texts


@pytest.mark.parametrize(
    "source",
    [b"def f(:\n", b"\xff\n", b"x = 1\0\n", b"# coding: latin-1\nx = 1\n", b"(" * 5000 + b")" * 5000, b"return 1\n"],
)
def test_what_is_no_plain_python_gives_no_mutant_and_no_error(source: bytes) -> None:
    with pytest.raises(Unmutable):
        edits(source, {1})
    solution = [Entry("m.py", "100644", source)]
    found, why = mutants([], solution, "seed")
    assert (found, str(why)[:5]) == ([], "m.py:")


def test_only_lines_that_the_solution_wrote_are_mutated() -> None:
    before = SOLVED.replace("value < limit and", "value > limit and")
    found, why = mutants([file(before)], [file(SOLVED)], "seed", most=99)
    assert why is None
    assert {int(m.label.split(":")[1]) for m in found} == {5}
    assert len(found) == 7
    assert changed_lines(before.encode(), SOLVED.encode()) == {5}
    assert changed_lines(b"", SOLVED.encode()) == set(range(1, 9))


def test_the_untouched_workspace_is_no_mutant_of_the_solution() -> None:
    body = "def add(a, b):\n    return a {} b\n"
    found, _ = mutants([file(body.format("-"))], [file(body.format("+"))], "seed")
    assert [m.label for m in found] == ["m.py:2: return None in 'return a + b'"]
    assert found[0].tree == [file("def add(a, b):\n    return None\n")]


def test_a_solution_in_another_language_has_none_and_says_so() -> None:
    assert mutants([], [file("let x = 1 + 2;\n", "m.js")], "seed") == ([], "the solution changes no line of Python")


def test_the_draw_is_the_same_each_time_and_another_for_another_item_and_takes_every_line_first() -> None:
    drawn = [[m.label for m in mutants([], [file(SOLVED)], seed)[0]] for seed in ("a", "a", "b", "c", "d")]
    assert drawn[0] == drawn[1]
    assert len({tuple(labels) for labels in drawn}) > 1
    for labels in drawn:
        assert len({label.split(":")[1] for label in labels}) == len(labels) == MOST


def test_a_patch_that_does_nothing_touches_a_solved_file_and_another_and_means_the_same() -> None:
    tree = [file("x = 1"), file("y = 2\n", "other.py"), Entry("blob.py", "100644", b"\0")]
    assert noop(tree, [file("x = 2")]) == overlaid(
        tree, [file("x = 1\n# nothing was done\n"), file("y = 2\n\n# nothing was done\n", "other.py")]
    )
    strange = [file("x = 1 \\", "odd.py"), Entry("blob", "100644", b"\0")]
    assert noop(strange, []) == [*sorted(strange), file("Nothing was done.\n", "weighbridge-noop.txt")]


WEAK = "from m_item_0 import pick\n\n\ndef test_pick():\n    assert pick([1, 5, 9], 5) {}\n"
PICK = "def pick(values, limit):\n    return [v for v in values if v {} limit]\n"


@pytest.fixture(scope="module")
def weak(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """(a study, what preflight said of it): its item picks values up to a limit, its oracle hardly looks at them."""
    if find().tier == "none":
        pytest.skip(f"no mutant is run without isolation: {find().why}")
    root = make_study(tmp_path_factory.mktemp("weak") / "study", items=1, placebos=1, protocol={"trial_budget": 1})
    task, said = root / "data/pack/tasks/item-0", list[str]()
    write(task / "workspace/m_item_0.py", PICK.format(">"))
    write(task / "solution/m_item_0.py", PICK.format("<="))
    write(task / "wrong/constant/m_item_0.py", PICK.format("=="))
    write(task / "oracle/test_oracle.py", WEAK.format("!= [9]\n    assert pick([1, 5, 9], 5) != [5]"))
    words = yaml.safe_load((task / "task.yaml").read_text())
    words["interface"] = {"module": "m_item_0", "function": "pick", "signature": "(values, limit)"}
    write(task / "task.yaml", yaml.safe_dump(words))
    freeze(root)
    assert preflight(root, said.append) == []
    return root, said


def test_survivors_are_named_and_counted_and_refuse_nothing_without_a_limit(weak: tuple[Path, list[str]]) -> None:
    # By hand: `<` gives [1] and `return None` None, neither of which the oracle minds; `not v <= limit` gives [9].
    root, said = weak
    assert "mutants: 2 of 3 pass their oracle (share 0.667; no limit is set)" in said
    assert "  passes: item-0 m_item_0.py:2: <= to < in 'return [v for v in values if v <= limit]'" in said
    assert "  passes: item-0 m_item_0.py:2: return None in 'return [v for v in values if v <= limit]'" in said
    rows = [r for r in parquet.read(root / layout.CHECKS, tables.CHECKS).to_pylist() if r["item_id"] == "item-0"]
    found = sorted((r["found"], r["ok"], r["rule"]) for r in rows if r["check"] == "mutant")
    assert found == [("fail", True, None), ("pass", False, None), ("pass", False, None)]
    assert [r["found"] for r in rows if r["check"] == "mutants"] == ["2 of 3 mutants pass"]


@pytest.mark.heavy
def test_a_limit_refuses_the_item_before_any_arm_and_another_limit_later_is_found_out(
    weak: tuple[Path, list[str]], tmp_path: Path
) -> None:
    root = tmp_path / "study"
    shutil.copytree(weak[0], root)
    write_params(root, protocol={"max_surviving_mutants": "0.5", "trial_budget": 1})
    freeze(root)
    (refused,) = preflight(root, lambda _: None)
    assert refused == "item-0: oracle_weak: mutants: found 2 of 3 mutants pass, expected a share of at most 0.5"
    assert json.loads((root / layout.ADMITTED).read_bytes())["items"]["item-0"]["rule"] == "oracle_weak"
    run(root, lambda _: None)
    score(root, lambda _: None)
    exclude(root)
    (row,) = parquet.read(root / layout.EXCLUSIONS, tables.EXCLUSIONS).to_pylist()
    assert (row["rule"], row["item_id"], row["accepted"]) == ("oracle_weak", "item-0", True)
    write_params(root, protocol={"trial_budget": 1})
    freeze(root)
    with pytest.raises(InputError, match=r"admitted.json: item-0: oracle_weak, with 2 of 3 mutants passed"):
        exclude(root)


def test_a_limit_whose_rule_is_not_registered_is_refused() -> None:
    half = Protocol(max_surviving_mutants=Fraction(1, 2))
    assert half.mutant_limit() == Fraction(1, 2)
    with pytest.raises(ValueError, match="only with its rule, oracle_weak"):
        Protocol(max_surviving_mutants=Fraction(1, 2), exclusion_rules=["lost"])
    assert Protocol().mutant_limit() is None


def test_verdicts_on_mutants_are_observed_once_for_the_same_bytes(
    weak: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, root = list[int](), tmp_path / "study"
    shutil.copytree(weak[0], root)
    real = observe_item
    monkeypatch.setattr(sys.modules["stages.oracle.admit"], "observe_item", lambda *a: (seen.append(1), real(*a))[1])
    preflight(root, lambda _: None)
    assert len(seen) == (3 + 2 + 1 + 1) + 2, "reference, workspace, wrong, no-op; a placebo twice"


def test_a_share_of_mutants_is_compared_exactly() -> None:
    third = Protocol(max_surviving_mutants=Fraction(1, 3))
    rows = [{"item_id": "a", "check": "mutant", "ok": ok} for ok in (True, True, False)]
    check_weak(third, {"a": {"rule": None}}, rows)
    with pytest.raises(InputError, match="oracle_weak"):
        check_weak(third, {"a": {"rule": "oracle_weak"}}, rows)
    with pytest.raises(InputError, match="1 of 2 mutants passed"):
        check_weak(third, {"a": {"rule": None}}, rows[1:])
