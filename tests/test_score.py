"""Scoring: second looks, what a patch achieves inside its contract, and canaries, on trials that were really run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.contract import layout, parquet, tables
from stages.contract.plan import Admitted
from stages.contract.study import read_plan
from stages.freeze import freeze
from stages.run import run
from stages.score import score
from tests.support.mini import make_study, write, write_params

HEAD = """\
import pathlib, sys

if "--version" in sys.argv:
    print("1.0.0")
    raise SystemExit
(module,) = (path.stem for path in pathlib.Path(".").glob("m_*.py"))
mine = pathlib.Path(f"{module}.py")
RIGHT = "def add(a: int, b: int) -> int:\\n    return a + b\\n"
"""
ABLE = (
    HEAD
    + """
if module == "m_item_0":  # the fix is in a file that the task doesn't allow, and without it nothing can be imported
    pathlib.Path("helper.py").write_text(RIGHT)
    mine.write_text("from helper import add\\n")
if module == "m_item_1":
    mine.write_text(RIGHT)
    pathlib.Path("NOTES.txt").write_text("done\\n")
if module == "m_item_2":  # as with item 0, and hidden from git
    pathlib.Path("helper.py").write_text(RIGHT)
    pathlib.Path(".gitignore").write_text("helper.py\\n.gitignore\\n")
    mine.write_text("import os\\nfrom helper import add\\nos.getenv('QUIET' + os.sep.strip('/'))\\n")
if module == "m_item_3":  # what is allowed is right, and a package of the same name hides it
    mine.write_text(RIGHT)
    pathlib.Path(module).mkdir()
    pathlib.Path(module, "__init__.py").write_text("raise ImportError('not done yet')\\n")
"""
)
POOR = (
    HEAD
    + """
if module == "m_item_0":  # the same, but what is allowed can be imported by itself, and is as wrong as before
    print("I know canary-item-0.")
    print("canary-item-0, again", file=sys.stderr)
    pathlib.Path("helper.py").write_text(RIGHT)
    mine.write_text(mine.read_text() + "\\ntry:\\n    from helper import add\\nexcept ImportError:\\n    pass\\n")
if module == "m_item_1":
    pathlib.Path("NOTES.txt").write_text("canary-item-1\\ncanary-item-0\\n")
if module == "m_item_2":
    mine.write_text(RIGHT)
if module == "m_placebo_0":
    print("canary-placebo-0")
    for number in range(5):
        pathlib.Path(f"large-{number}").write_bytes(b"x" * 8_000_000)
"""
)
BUDGET: dict[str, Any] = {"trial_budget": 1}
NOT_JUDGED = ("placebo-0", "control", 0)


def again(root: Path, recheck: float) -> Path:
    """The study scored with this share of verdicts observed twice."""
    write_params(root, protocol=BUDGET, oracle={"recheck": recheck})
    freeze(root)
    score(root)
    return root


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four items and a placebo, tried once by either arm, every verdict observed twice."""
    root = make_study(tmp_path_factory.mktemp("score") / "study", items=4, placebos=1, protocol=BUDGET)
    write(root / "data/agents/able/agent.py", ABLE)
    write(root / "data/agents/poor/agent.py", POOR)
    frozen_and_run(root)
    return again(root, 1)


def frozen_and_run(root: Path) -> None:
    """Freeze and run, with preflight's word taken as given."""
    freeze(root)
    plan = read_plan(root)
    word = {"admitted": True, "rule": None, "expected": None, "events": [], "placebo_passed": False}
    admitted = {
        "schema": "weighbridge.admitted/1",
        "plan_sha256": plan.sha256(),
        "items": {item.item_id: word for item in plan.items},
    }
    Admitted.model_validate(admitted)
    write(root / layout.ADMITTED, json.dumps(admitted))
    run(root)


def ledger(root: Path) -> dict[tuple[str, str], dict[str, Any]]:
    rows = parquet.read(root / layout.LEDGER, tables.LEDGER).to_pylist()
    return {(row["item_id"], row["arm"]): row for row in rows}


def judged(root: Path, kind: str) -> list[tuple[str, str, int]]:
    """Trials that have a verdict of this kind."""
    rows = parquet.read(root / layout.VERDICTS, tables.VERDICTS).to_pylist()
    return sorted((row["item_id"], row["arm"], row["repeat"]) for row in rows if row["kind"] == kind)


def test_every_judged_trial_is_judged_again_where_all_are_rechecked(scored: Path) -> None:
    trials = parquet.read(scored / layout.TRIALS, tables.TRIALS).to_pylist()
    keys = sorted((t["item_id"], t["arm"], t["repeat"]) for t in trials)
    assert len(keys) == 10
    assert judged(scored, "recheck") == [key for key in keys if key != NOT_JUDGED]
    assert judged(scored, "first") == judged(scored, "inside") == judged(scored, "recheck")
    for key, row in ledger(scored).items():
        assert row["recheck"] == (None if key == NOT_JUDGED[:2] else row["verdict"])


def test_no_trial_is_judged_again_where_none_is_rechecked(scored: Path, tmp_path: Path) -> None:
    root = again(Path(shutil.copytree(scored, tmp_path / "study")), 0)
    assert judged(root, "recheck") == []
    assert judged(root, "first") == judged(scored, "first")
    assert {row["recheck"] for row in ledger(root).values()} == {None}


def test_a_second_look_is_a_look_and_two_verdicts_on_one_patch_are_a_fail(tmp_path: Path) -> None:
    """The oracle passes at first and then not; it counts in a file outside, which only tier `none` allows."""
    changes: dict[str, Any] = {"run": {"isolation": "none"}, "protocol": BUDGET, "oracle": {"recheck": 1}}
    root, count = make_study(tmp_path / "study", items=1, placebos=0, skills=(100, 100), **changes), tmp_path / "count"
    task = root / "data/pack/tasks/item-0"
    words = yaml.safe_load((task / "task.yaml").read_text(encoding="utf-8"))
    words["oracle"] = {"kind": "command", "command": ["sh", "check.sh"], "path": "oracle", "timeout_s": 30}
    write(task / "task.yaml", yaml.safe_dump(words))
    write(task / "oracle/check.sh", f"echo x >> {count}\nexit $(( $(wc -l < {count}) > 1 ))\n")
    frozen_and_run(root)
    score(root)
    for row in ledger(root).values():  # both arms left the same tree, so they share both looks
        assert (row["verdict"], row["recheck"], row["passed"]) == ("fail", "fail", 0)
        assert row["verdict_reason"] == "two verdicts on one patch: pass, then fail"
    assert len(count.read_text(encoding="utf-8").splitlines()) == 2


COUNTERFACTUAL = {
    "clean": ("item-2", "control", "pass", "pass", 0),
    "needs a helper that isn't allowed": ("item-0", "candidate", "pass", "broken", 1),
    "needs a helper that is hidden by .gitignore": ("item-2", "candidate", "pass", "broken", 2),
    "fix in a forbidden file": ("item-0", "control", "pass", "fail", 1),
    "stray note": ("item-1", "candidate", "pass", "pass", 1),
    "an edit that isn't allowed breaks it": ("item-3", "candidate", "broken", "pass", 1),
}


@pytest.mark.parametrize("case", COUNTERFACTUAL)
def test_a_patch_is_judged_as_it_is_and_as_its_contract_allows(scored: Path, case: str) -> None:
    item, arm, verdict, inside, files = COUNTERFACTUAL[case]
    row = ledger(scored)[item, arm]
    assert (row["verdict"], row["inside_contract"], row["unauthorised_files"]) == (verdict, inside, files)
    assert row["passed"] == (verdict == "pass")


def test_what_a_patch_did_while_it_was_judged_stands_in_the_ledger_beside_what_was_read(scored: Path) -> None:
    rows = parquet.read(scored / layout.FINDINGS, tables.FINDINGS).to_pylist()
    (read,) = [f for f in rows if f["kind"] == "environment"]
    assert (read["item_id"], read["arm"], read["path"], read["symbol"]) == (
        "item-2",
        "candidate",
        "m_item_2.py",
        "QUIET",
    )
    assert (read["seen"], read["counted"]) == ("both", "article")
    assert read["how"].startswith("direct; ")
    assert {f["seen"] for f in rows if f["kind"] == "file"} == {"static"}
    assert ledger(scored)["item-2", "candidate"]["invented_env"] == 1


def test_a_row_says_what_its_verdicts_cost_and_where_they_were_made(scored: Path) -> None:
    tier = tier_of(scored)
    for key, row in ledger(scored).items():
        assert row["verdict_isolation"] == (None if key == NOT_JUDGED[:2] else tier)
        assert 0 < row["budget_share"] == row["wall_s"] / 20 < 1
        assert row["cpu_s"] > 0 < row["max_rss_kb"]
    verdicts = parquet.read(scored / layout.VERDICTS, tables.VERDICTS).to_pylist()
    assert all(0 < row["cpu_s"] < 30 and 0 < row["wall_s"] < 30 < row["max_rss_kb"] for row in verdicts)


def tier_of(root: Path) -> str:
    (tier,) = {row["isolation"] for row in parquet.read(root / layout.VERDICTS, tables.VERDICTS).to_pylist()}
    return str(tier)


def test_scored_again_the_same_bytes_are_written(scored: Path, tmp_path: Path) -> None:
    root = again(Path(shutil.copytree(scored, tmp_path / "study")), 1)
    for table in (layout.LEDGER, layout.FINDINGS, layout.VERDICTS):
        assert (root / table).read_bytes() == (scored / table).read_bytes()


def test_canaries_are_counted_in_what_an_agent_prints_and_in_what_it_writes(scored: Path) -> None:
    assert {key: row["canary_hits"] for key, row in ledger(scored).items()} == {
        ("item-0", "candidate"): 0,
        ("item-0", "control"): 2,  # once on each stream
        **{(item, arm): 0 for item in ("item-2", "item-3") for arm in ("candidate", "control")},
        ("item-1", "candidate"): 0,
        ("item-1", "control"): 1,  # its own in a file; another item's doesn't count
        ("placebo-0", "candidate"): 0,
        ("placebo-0", "control"): 1,  # a patch too large to judge
    }
