"""A campaign: its order, its resumption, its stop, and what its record says of git, on trials that are really run."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from stages.arms import Journal
from stages.contract import layout, parquet, tables
from stages.contract.study import read_plan
from stages.exclude import exclude
from stages.freeze import freeze
from stages.report import report
from stages.run import run
from stages.score import score
from tests.arms.test_trial import attempt
from tests.packs.repositories import commit, git
from tests.support.mini import make_study, write, write_params, write_task

Key = tuple[str, str, int]


def admit_all(root: Path, but: Collection[str] = ()) -> None:
    """Preflight's word, taken as given: what it would find isn't what is claimed here."""
    plan = read_plan(root)
    words = {
        item.item_id: {
            "admitted": item.item_id not in but,
            "rule": "oracle_broken" if item.item_id in but else None,
            "expected": None,
            "events": [],
            "placebo_passed": False,
        }
        for item in plan.items
    }
    made = {"schema": "weighbridge.admitted/1", "plan_sha256": plan.sha256(), "items": words}
    write(root / layout.ADMITTED, json.dumps(made))
    parquet.write(root / layout.CHECKS, parquet.table(tables.CHECKS, []))


def record(root: Path) -> dict[str, Any]:
    """campaign.json of a campaign that has no trial to run, since preflight refused every item."""
    freeze(root)
    admit_all(root, but=[item.item_id for item in read_plan(root).items])
    run(root)
    return dict(json.loads((root / layout.CAMPAIGN).read_bytes()))


def started(root: Path) -> list[Key]:
    """The trials in the order in which they started."""
    trials = parquet.read(root / layout.TRIALS, tables.TRIALS).to_pylist()
    return [(t["item_id"], t["arm"], t["repeat"]) for t in sorted(trials, key=lambda t: str(t["started_at"]))]


def trials(root: Path) -> dict[Key, dict[str, Any]]:
    rows = parquet.read(root / layout.TRIALS, tables.TRIALS).to_pylist()
    return {(t["item_id"], t["arm"], t["repeat"]): t for t in rows}


def blocks(root: Path) -> list[dict[str, Any]]:
    """The registered schedule as it stands in plan.json."""
    return list(json.loads((root / layout.PLAN).read_bytes())["schedule"])


def journal(root: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    with sqlite3.connect(layout.journal(root) / "journal.sqlite") as db:
        return db.execute(query, values).fetchall()


@pytest.fixture(scope="module")
def interleaved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight blocks by one worker. One trial was claimed before and came to nothing, another twice."""
    changes: dict[str, Any] = {
        "arms": {"candidate": {"temperature": "hidden"}, "control": {"temperature": 0.5}},
        "run": {"workers": 1},
    }
    root = make_study(tmp_path_factory.mktemp("interleaved") / "study", items=3, placebos=1, **changes)
    record(root)  # the campaign is open, and none of its trials has started
    plan_sha, before = read_plan(root).sha256(), Journal(layout.journal(root))
    for key in (("item-1", "candidate", 0), ("item-2", "control", 1), ("item-2", "control", 1)):
        before.claim(plan_sha, key, "2026-01-01T00:00:00Z")
    before.close()
    admit_all(root)
    run(root)
    return root


@pytest.fixture(scope="module")
def sequential(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of one arm after the other, up to its decision."""
    changes: dict[str, Any] = {
        "arms": {"order": "sequential", "candidate": {"temperature": None}, "control": {"temperature": 0}},
        "protocol": {"trial_budget": 1},
        "run": {"workers": 1},
    }
    root = make_study(tmp_path_factory.mktemp("sequential") / "study", items=3, placebos=1, **changes)
    freeze(root)
    admit_all(root)
    run(root)
    score(root)
    exclude(root)
    report(root)
    return root


def test_trials_start_in_the_registered_order_of_blocks_and_of_arms_within_a_block(interleaved: Path) -> None:
    other = {"candidate": "control", "control": "candidate"}
    registered = [
        (block["item_id"], arm, block["repeat"])
        for block in blocks(interleaved)
        for arm in (block["first"], other[block["first"]])
    ]
    assert len(registered) == 4 * 2 * 2
    assert started(interleaved) == registered


def test_arms_that_were_registered_one_after_the_other_run_so_and_the_decision_says_it(sequential: Path) -> None:
    assert started(sequential) == [
        (block["item_id"], arm, block["repeat"]) for arm in ("control", "candidate") for block in blocks(sequential)
    ]
    decision = json.loads((sequential / layout.DECISION).read_bytes())
    assert decision["decision"] == "withhold"
    assert "not_interleaved" in decision["reasons"]


def test_the_temperature_is_recorded_as_the_arm_declares_it(interleaved: Path, sequential: Path) -> None:
    def recorded(root: Path) -> dict[str, set[str]]:
        rows = trials(root).values()
        return {arm: {t["temperature"] for t in rows if t["arm"] == arm} for arm in ("candidate", "control")}

    assert recorded(interleaved) == {"candidate": {"hidden"}, "control": {"0.5"}}
    assert recorded(sequential) == {"candidate": {"undeclared"}, "control": {"0"}}
    arms = json.loads((sequential / layout.DECISION).read_bytes())["arms"]
    assert {arm: arms[arm]["temperature"] for arm in arms} == {"candidate": ["undeclared"], "control": ["0"]}


def test_claims_that_came_to_nothing_are_interruptions_and_no_attempts(interleaved: Path) -> None:
    found = {key: row["interrupted"] for key, row in trials(interleaved).items() if row["interrupted"]}
    assert found == {("item-1", "candidate", 0): 1, ("item-2", "control", 1): 2}
    assert {row["attempts"] for row in trials(interleaved).values()} == {1}
    stamps = parquet.read(interleaved / layout.STAMPS, tables.STAMPS).to_pylist()
    assert len(stamps) == 16
    assert {row["attempt"] for row in stamps} == {1}


def test_every_stamp_holds_a_delay_that_was_measured(interleaved: Path) -> None:
    stamps = parquet.read(interleaved / layout.STAMPS, tables.STAMPS).to_pylist()
    delays = [json.loads(row["stamp"])["queue_ms"] for row in stamps]
    assert min(delays) > 0
    assert len(set(delays)) > 1


def test_what_holds_up_the_start_of_a_process_is_in_its_stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stages.arms import trial

    root = make_study(tmp_path / "study", items=1, placebos=0)
    freeze(root)
    swift = trial.prepare

    def slow(*given: Any) -> Any:
        time.sleep(0.3)
        return swift(*given)

    monkeypatch.setattr(trial, "prepare", slow)
    clock = time.monotonic()
    done = attempt(root, "import time; time.sleep(0.3)")
    spent = time.monotonic() - clock
    (stamp,) = map(json.loads, done.stamps)
    assert stamp["queue_ms"] >= 300
    assert done.row["wall_s"] >= 0.3
    assert stamp["queue_ms"] / 1000 + done.row["wall_s"] < spent  # neither holds the other


def test_a_placebo_that_passed_stops_the_campaign_even_if_nobody_lived_to_say_so(tmp_path: Path) -> None:
    root = make_study(tmp_path / "study", items=2, placebos=1, skills=(100, 100), run={"workers": 1})
    oracle = root / "data/pack/tasks/placebo-0/oracle/test_oracle.py"
    write(oracle, "from m_placebo_0 import add\n\n\ndef test_sum():\n    assert add(1, 2) == 3\n")
    freeze(root)
    admit_all(root)
    stopped = run(root)
    assert stopped is not None
    assert stopped.startswith("placebo_passed: placebo-0, ")
    before = started(root)
    assert len(before) < 3 * 2 * 2
    claims = journal(root, "SELECT count(*) FROM claims")
    journal(root, "UPDATE campaigns SET stopped=NULL")  # killed between the trial's end and its verdict
    for path in (layout.journal(root)).glob("verdicts.sqlite*"):
        path.unlink()
    assert run(root) == stopped
    assert journal(root, "SELECT count(*) FROM claims") == claims
    assert started(root) == before
    assert json.loads((root / layout.CAMPAIGN).read_bytes())["stopped"] == stopped
    assert journal(root, "SELECT stopped FROM campaigns") == [(stopped,)]


def test_a_campaign_that_is_resumed_goes_on_past_placebos_that_failed_and_starts_nothing_twice(
    interleaved: Path, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(interleaved, tmp_path / "study"))
    for table in ("trials", "patches", "streams"):  # as if the process had died before it could finish these two
        journal(root, f"DELETE FROM {table} WHERE item='item-0' AND arm='candidate'")
    before = trials(root)
    assert run(root) is None
    after = trials(root)
    again = {("item-0", "candidate", 0), ("item-0", "candidate", 1)}
    assert {key: after[key]["interrupted"] for key in again} == dict.fromkeys(again, 1)
    assert {key: row for key, row in after.items() if key not in again} == {
        key: row for key, row in before.items() if key not in again
    }


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a frozen study at its top, another below `studies/one`, and a third that keeps its pack apart."""
    top = make_study(tmp_path_factory.mktemp("git") / "top", items=1, placebos=0)
    below, apart = make_study(top / "studies/one", items=1, placebos=0), top / "studies/apart"
    shutil.copytree(below, apart)
    (apart / "data/pack").rename(apart / "own")
    write_params(apart, pack={"path": "own"})
    write(top / ".gitignore", ".trials/\n")
    git(top, "init", "--quiet", "--initial-branch=main")
    commit(top)
    return top


def edit(path: Path) -> None:
    write(path, path.read_text(encoding="utf-8") + "\n")


STATEMENT = "data/pack/tasks/item-0/statement.md"
GIT_CASES: dict[str, tuple[str, Any, bool]] = {
    "as committed": (".", lambda _: None, True),
    "a statement edited": (".", lambda top: edit(top / STATEMENT), False),
    "a statement edited and staged": (".", lambda top: (edit(top / STATEMENT), git(top, "add", STATEMENT)), False),
    "parameters edited": (".", lambda top: edit(top / "params.yaml"), False),
    "a wrong solution taken out": (
        ".",
        lambda top: shutil.rmtree(top / "data/pack/tasks/item-0/wrong"),
        False,
    ),
    "an untracked task": (".", lambda top: write_task(top / "data/pack", "item-9", "left"), False),
    "another file edited": (".", lambda top: edit(top / "data/agents/able/agent.py"), True),
    "a name that only begins like the pack's": (".", lambda top: write(top / "data/package.txt", "x"), True),
    "another study edited": (".", lambda top: edit(top / "studies/one" / STATEMENT), True),
    "below as committed": ("studies/one", lambda _: None, True),
    "below a statement edited": ("studies/one", lambda top: edit(top / "studies/one" / STATEMENT), False),
    "below parameters edited": ("studies/one", lambda top: edit(top / "studies/one/params.yaml"), False),
    "below an untracked task": (
        "studies/one",
        lambda top: write_task(top / "studies/one/data/pack", "item-9", "left"),
        False,
    ),
    "below the study above edited": ("studies/one", lambda top: edit(top / STATEMENT), True),
    "apart as committed": ("studies/apart", lambda _: None, True),
    "apart a statement edited": (
        "studies/apart",
        lambda top: edit(top / "studies/apart/own/tasks/item-0/statement.md"),
        False,
    ),
}


@pytest.mark.parametrize("case", GIT_CASES)
def test_the_record_says_whether_pack_and_parameters_were_as_committed(
    committed: Path, tmp_path: Path, case: str
) -> None:
    where, change, clean = GIT_CASES[case]
    top = Path(shutil.copytree(committed, tmp_path / "top", symlinks=True))
    change(top)
    assert record(top / where)["git"] == {"head": git(committed, "rev-parse", "HEAD"), "clean": clean}


def test_without_a_repository_the_record_says_neither(committed: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(committed / "studies/one", tmp_path / "study"))
    assert record(root)["git"] == {"head": None, "clean": None}
