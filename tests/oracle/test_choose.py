"""Which boundary an item is judged under: its own choice, else the study's, else what its reference solution bears."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from stages.contract.protocol import OracleParams
from stages.contract.study import read_files, read_plan
from stages.freeze import freeze
from stages.oracle import Admission, Bench, admit_within, summary
from stages.sandbox import Isolation, find
from tests.support.mini import make_study, write

CALLBACK = "from m_item_1 import add\n\n\ndef test_sum():\n    assert add(2, Two()) == 4\n\n\nclass Two:\n    def __radd__(self, other):\n        return other + 2\n\n    def __rsub__(self, other):\n        return other - 2\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A frozen study: an item of plain values, one whose oracle hands over an object of its own, and a placebo."""
    root = make_study(tmp_path_factory.mktemp("choose") / "study", items=2, placebos=1)
    write(root / "data/pack/tasks/item-1/oracle/test_oracle.py", CALLBACK)
    freeze(root)
    return root


def word(root: Path, item_id: str, wanted: Any, isolation: Isolation | None = None) -> Admission:
    plan = read_plan(root)
    item = next(item for item in plan.items if item.item_id == item_id)
    return admit_within(item, read_files(root, plan), lambda: None, isolation or find(), wanted)


def boundary_rows(made: Admission) -> list[tuple[str, bool, str]]:
    return [(row["found"], row["ok"], row["detail"]) for row in made.rows if row["check"] == "boundary"]


@pytest.fixture(scope="module", autouse=True)
def _sandboxes() -> None:
    if find().tier == "none":
        pytest.skip("no namespaces on this machine")


def test_an_oracle_of_plain_values_is_judged_apart_and_every_check_holds_there(root: Path) -> None:
    made = word(root, "item-0", "auto")
    assert (made.rule, made.entry()["boundary"]) == (None, "process")
    assert boundary_rows(made) == [("process", True, "")]
    found = {row["check"]: row["found"] for row in made.rows if row["expected"] in ("pass", "fail")}
    tried = ("baseline", "wrong/constant", "noop", "mutant")
    assert found == {"reference": "pass", **dict.fromkeys(tried, "fail")}


def test_an_oracle_that_hands_over_what_cannot_cross_is_judged_in_process_and_the_evidence_says_why(root: Path) -> None:
    made = word(root, "item-1", "auto")
    assert (made.rule, made.entry()["boundary"]) == (None, "inprocess")
    ((found, ok, why),) = boundary_rows(made)
    assert (found, ok) == ("inprocess", True)
    assert "oracle_broken under process" in why
    assert "an argument: an instance of test_oracle.Two" in why
    (line,) = [line for line in summary([word(root, "item-0", "auto"), made], None) if line.startswith("boundary")]
    assert line.startswith(
        "boundary: 1 of 2 items are judged apart from their oracle; in process: item-1 (oracle_broken"
    )


def test_the_same_oracle_is_broken_where_the_boundary_was_asked_for(root: Path) -> None:
    made = word(root, "item-1", "process")
    assert (made.rule, made.entry()["boundary"]) == ("oracle_broken", "process")
    assert "product_uncarried:an argument: an instance of test_oracle.Two" in made.why()


def test_a_placebo_is_judged_apart_too(root: Path) -> None:
    made = word(root, "placebo-0", "auto")
    assert (made.rule, made.entry()["boundary"], made.placebo_passed) == (None, "process", False)


@pytest.mark.parametrize(
    ("wanted", "tier"), [pytest.param("inprocess", "namespaces", marks=pytest.mark.heavy), ("auto", "none")]
)
def test_in_process_is_kept_where_it_is_asked_for_or_nothing_would_be_gained(
    root: Path, wanted: str, tier: str
) -> None:
    made = word(root, "item-0", wanted, find() if tier == "namespaces" else Isolation("none"))
    assert (made.rule, made.entry()["boundary"]) == (None, "inprocess")


def test_verdicts_are_stored_under_the_boundary_that_was_used(root: Path) -> None:
    plan = read_plan(root)

    def bench(boundary: str) -> Bench:
        known = {"item-0": {"expected": None, "events": [], "boundary": boundary}}
        return Bench.open(root, plan, find(), known, OracleParams())

    apart, beside = bench("process"), bench("inprocess")
    assert apart.key("item-0") != beside.key("item-0")
    assert beside.key("item-0") == dataclasses.replace(beside, admitted={"item-0": {"expected": None}}).key("item-0")
    assert {one.verdict("item-0", []).reason for one in (apart, beside)} == {"1 of 2 tests failed"}
    kept = apart.store._connection().execute("SELECT count(*) FROM verdicts").fetchone()[0]
    assert kept == 2
    for one in (apart, beside):
        one.store._connection().close()
