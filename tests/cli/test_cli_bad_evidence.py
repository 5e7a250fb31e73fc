"""What can be wrong with the files that stages hand on, and with what the run stage finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from stages.contract import layout
from stages.contract.study import read_plan
from tests.cli.refusals import Case, Damage, candidate, parametrised, put
from tests.support import mini

PLAN, MANIFEST, ADMITTED = layout.PLAN.as_posix(), layout.MANIFEST.as_posix(), layout.ADMITTED.as_posix()
TREES, HIDDEN, ITEMS = layout.TREES.as_posix(), layout.HIDDEN.as_posix(), layout.ITEMS.as_posix()


def _plan(change: Callable[[dict[str, Any]], object], name: str = PLAN) -> Damage:
    def damage(root: Path) -> None:
        value = json.loads((root / name).read_bytes())
        change(value)
        (root / name).write_text(json.dumps(value))

    return damage


def _table(change: Callable[[pa.Table], pa.Table], name: str = TREES) -> Damage:
    return lambda root: pq.write_table(change(pq.read_table(root / name)), root / name)


def _column(name: str, value: Any, kind: pa.DataType) -> Damage:
    """Every value of a column of trees.parquet replaced."""

    def change(table: pa.Table) -> pa.Table:
        values = pa.array([value] * table.num_rows, type=kind)
        return table.set_column(table.column_names.index(name), name, values)

    return _table(change)


def _admitted(root: Path) -> None:
    """Preflight's word, as if every item were sound."""
    plan = read_plan(root)
    entry = {"admitted": True, "rule": None, "expected": None, "events": [], "placebo_passed": False}
    value = {
        "schema": "weighbridge.admitted/1",
        "plan_sha256": plan.sha256(),
        "items": {i.item_id: entry for i in plan.items},
    }
    mini.write(root / ADMITTED, json.dumps(value))


def _before_run(damage: Damage, *, freeze: bool = False) -> Damage:
    """The study as it stands before its run stage, then damaged."""

    def whole(root: Path) -> None:
        if freeze:
            damage(root)
            mini.stage(root, "freeze")
        _admitted(root)
        if not freeze:
            damage(root)

    return whole


NO_UTF8 = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])[0]

TABLES = [
    Case("no table", lambda root: (root / TREES).unlink(), (TREES, "isn't there", "dvc pull"), "preflight", True),
    Case("a folder for a table", lambda root: ((root / TREES).unlink(), (root / TREES).mkdir()), (TREES, "no regular"), "preflight"),
    Case("a truncated table", lambda root: put(TREES, (root / TREES).read_bytes()[:-100])(root), (TREES, "can't be read as Parquet"), "preflight", True),
    Case("an empty table file", put(TREES, b""), (TREES, "can't be read as Parquet"), "preflight"),
    Case("a flipped byte", lambda root: put(HIDDEN, (d := (root / HIDDEN).read_bytes())[:99] + bytes([d[99] ^ 1]) + d[100:])(root), (HIDDEN,), "preflight"),
    Case("text for a table", put(TREES, "item_id,role\n"), (TREES, "can't be read as Parquet"), "preflight"),
    Case("another table", lambda root: put(TREES, (root / ITEMS).read_bytes())(root), (TREES, "columns item_id, rev"), "preflight"),
    Case("a column less", _table(lambda t: t.drop_columns(["mode"])), (TREES, "columns item_id, role, path, git_blob"), "preflight"),
    Case("a column of another type", _column("mode", 33188, pa.int64()), (f"{TREES}: mode", "type int64"), "preflight"),
    Case("a column of nulls", _column("mode", None, pa.string()), (f"{TREES}: column mode", "without a value"), "preflight"),
    Case("text that is none", _column("mode", NO_UTF8, pa.string()), (TREES, "can't be read as Parquet"), "preflight"),
    Case("another mode", _column("mode", "100755", pa.string()), (TREES, "rows_sha256", "as in the plan"), "preflight"),
    Case("a row less", _table(lambda t: t.slice(1)), (TREES, "rows_sha256"), "preflight"),
    Case("a row twice", _table(lambda t: pa.concat_tables([t, t.slice(0, 1)])), (TREES, "same key"), "preflight"),
]  # fmt: skip

PLANS = [
    Case("no plan", lambda root: (root / PLAN).unlink(), (PLAN, "isn't there"), "preflight"),
    Case("a plan that is no JSON", put(PLAN, "{"), (PLAN, "can't be read as JSON"), "preflight"),
    Case("a plan of another schema", _plan(lambda p: p.update(schema="x/2")), (f"{PLAN}: schema", "'x/2'"), "preflight"),
    Case("a key twice in a plan", put(PLAN, '{"a": 1, "a": 2}'), (PLAN, "a key stands twice"), "preflight"),
    Case("NaN in a plan", put(PLAN, '{"a": NaN}'), (PLAN, "NaN is no JSON number"), "preflight"),
    Case("1e999 in a plan", put(PLAN, '{"a": 1e999}'), (PLAN, "too large a number"), "preflight"),
    Case("a huge integer in a plan", _plan(lambda p: p.update(trial_budget=2**60)), (PLAN, "don't agree"), "preflight"),
    Case("a deep plan", put(PLAN, "[" * 200 + "]" * 200), (PLAN, "nested deeper"), "preflight"),
    Case("a very deep plan", put(PLAN, "[" * 200_000), (PLAN, "can't be read as JSON"), "preflight"),
    Case("an unknown key in a plan", _plan(lambda p: p.update(itmes=[])), (f"{PLAN}: itmes", "did you mean 'items'?"), "preflight"),
    Case("an item less in a plan", _plan(lambda p: (p.update(schedule=[]), p["items"].pop())), (PLAN, "placebo-1"), "preflight"),
    Case("an item twice in a plan", _plan(lambda p: p["items"].append(p["items"][0])), (PLAN, "items: each once"), "preflight"),
    Case("a block less in a plan", _plan(lambda p: p["schedule"].pop()), (PLAN, "schedule: each repeat"), "preflight"),
    Case("another digest in a plan", _plan(lambda p: p.update(hidden_rows_sha256="0" * 64)), (HIDDEN, "0000000000000000 as in the plan"), "preflight", True),
    Case("another order in a plan", _before_run(_plan(lambda p: p["schedule"].reverse())), (MANIFEST, "another plan"), "run"),
    Case("a manifest of another plan", _before_run(_plan(lambda p: p.update(plan_sha256="0" * 64), MANIFEST)), (MANIFEST, "another plan"), "run"),
]  # fmt: skip

RUNS = [
    Case("no admitted items", lambda _: None, (ADMITTED, "isn't there", "dvc repro"), "run", process=True),
    Case("admitted items of another plan", _before_run(_plan(lambda a: a.update(plan_sha256="0" * 64), ADMITTED)), (ADMITTED, "another plan"), "run"),
    Case("admitted items without one", _before_run(_plan(lambda a: a["items"].pop("item-0"), ADMITTED)), (ADMITTED, "another plan"), "run"),
    Case("admitted items in a list", _before_run(_plan(lambda a: a.update(items=[]), ADMITTED)), (f"{ADMITTED}: items",), "run"),
    Case("an item without a word", _before_run(_plan(lambda a: a["items"]["item-0"].pop("admitted"), ADMITTED)), (f"{ADMITTED}: items.item-0.admitted", "missing"), "run"),
    Case("another version", _before_run(candidate(version="2.0.0"), freeze=True), ("arms.candidate.version_command", "the runner says 'able 1.0.0'", "the pinned 2.0.0"), "run"),
    Case("a missing program", _before_run(candidate(command=["no-such-program"]), freeze=True), ("arms.candidate.command", "'no-such-program' can't be found"), "run"),
    Case("a missing install path", _before_run(candidate(install_paths=["data/agents/none"]), freeze=True), ("arms.candidate.install_paths", "data/agents/none isn't there"), "run"),
    Case("a paid arm", _before_run(candidate(paid=True), freeze=True), ("arm candidate (able)", "is paid", "WEIGHBRIDGE_SPEND=yes"), "run"),
]  # fmt: skip


@parametrised(TABLES)
def test_a_table_that_isnt_the_frozen_one_is_refused_in_one_line(case: Case, refuse: Callable[[Case], None]) -> None:
    refuse(case)


@parametrised(PLANS)
def test_a_plan_that_was_edited_is_refused_in_one_line(case: Case, refuse: Callable[[Case], None]) -> None:
    refuse(case)


@parametrised(RUNS)
def test_a_campaign_that_cant_start_says_why_in_its_last_line(
    case: Case, frozen: Path, weighbridge: Callable[[str], Any]
) -> None:
    case.damage(frozen)
    trials = frozen / "data/trials"
    ended = weighbridge(case.command)
    line = ended.err.splitlines()[-1]
    assert ended.code == 2, ended.err
    assert line.startswith("weighbridge: ")
    assert all(word in line for word in case.words), line
    assert "Traceback" not in ended.err
    assert not list(trials.glob("*.parquet"))
