"""The control against itself, and pilots: real stages in an inner study that leaves nothing but a line in the outer one."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.arms import Journal
from stages.arms.record import make_record
from stages.contract import layout, parquet, tables
from stages.contract.errors import InputError
from stages.contract.plan import PlanItem
from stages.contract.rehearsals import (
    HEADER,
    AaRecord,
    PilotRecord,
    append_rehearsal,
    piloted,
    read_rehearsals,
    runs_of,
)
from stages.contract.study import read_manifest, read_params, read_plan
from stages.contract.types import validate
from stages.contract.yamlfile import parse_yaml, written
from stages.evidence.copies import copy_study
from stages.evidence.inner import Inner, _freeze, inner_study, read_outer
from stages.evidence.rehearsal import _numbered, aa_params, choose
from stages.evidence.rehearsed import Rehearsed, pilot_lines
from stages.freeze import freeze
from stages.sandbox import find
from tests.cli.refusals import Ended, call
from tests.packs.repositories import make_repository, pinned
from tests.support.mini import PIPELINE, make_study, stage, write
from tests.test_kills import descendants, finished

STUBBORN = '''\
"""Takes its time, mends one module and no other, whatever its seed."""
import pathlib, sys, time

if "--version" in sys.argv:
    print("poor 1.0.0")
    raise SystemExit
time.sleep(0.3)
for path in pathlib.Path(".").glob("m_item_0.py"):
    path.write_text(path.read_text().replace("a - b", "a + b"))
'''


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with an A/A that was killed once and went on, and a pilot that ran under another DVC_ROOT.

    Its control ignores its seed, and its install path is a link.
    """
    top = tmp_path_factory.mktemp("rehearsed")
    root = make_study(top / "study", items=2, placebos=1, protocol={"trial_budget": 1}, oracle={"recheck": 0})
    for wrong in root.glob("data/pack/tasks/*/wrong"):  # preflight is quicker without
        shutil.rmtree(wrong)
    write(top / "elsewhere/agent.py", STUBBORN)
    shutil.rmtree(root / "data/agents/poor")
    (root / "data/agents/poor").symlink_to(top / "elsewhere")
    for words, pause, env in (
        (["aa"], 2, {}),
        (["aa"], 0, {}),
        (["pilot", "--items", "2", "--json"], 0, {"DVC_ROOT": str(top / "parent")}),
    ):
        command = [sys.executable, "-m", "stages", *words]
        environment = {**os.environ, "PYTHONPATH": str(Path(layout.__file__).parents[2]), **env}
        with (top / "said").open("ab") as said, (top / "printed").open("ab") as printed:
            child = subprocess.Popen(command, cwd=root, env=environment, stdout=printed, stderr=said)
            try:
                if pause:
                    _wait_for(root, pause, child)
                    (inner,) = _inners(root / ".trials/aa")
                    write(top / "before.json", json.dumps(sorted(finished(inner))))
                else:
                    assert child.wait(120) == 0, (top / "said").read_text()
            finally:
                for pid in [child.pid, *descendants(child.pid)] if child.poll() is None else []:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                child.wait()
    return root


def _inners(home: Path) -> list[Path]:
    return sorted(p for p in home.glob("*") if p.is_dir() and not p.name.startswith("."))


def _wait_for(root: Path, trials: int, child: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and child.poll() is None:
        if any(len(finished(inner)) >= trials for inner in _inners(root / ".trials/aa")):
            return
        time.sleep(0.02)
    raise AssertionError("no trial of the A/A came to its end")


def records(root: Path) -> tuple[AaRecord, PilotRecord]:
    first, second = read_rehearsals(root)
    assert isinstance(first, AaRecord)
    assert isinstance(second, PilotRecord)
    return first, second


@pytest.mark.heavy
def test_a_killed_aa_goes_on_and_no_finished_trial_starts_again(rehearsed: Path) -> None:
    (inner,) = _inners(rehearsed / ".trials/aa")
    before = {tuple(key) for key in json.loads((rehearsed.parent / "before.json").read_text())}
    assert 2 <= len(before) < 6
    with sqlite3.connect(inner / ".trials/journal.sqlite") as db:
        claims = Counter((i, a, r) for i, a, r in db.execute("SELECT item, arm, repeat FROM claims"))
    assert before <= set(finished(inner))
    assert len(finished(inner)) == 6
    assert all(claims[key] == 1 for key in before)
    assert sum(claims.values()) > 6, "nothing was under way when it was killed"


def test_an_aa_of_a_control_without_chance_has_no_variance_and_crowns_nobody(rehearsed: Path) -> None:
    record, _ = records(rehearsed)
    decision = json.loads((_inners(rehearsed / ".trials/aa")[0] / layout.DECISION).read_bytes())
    assert "no_variance" in decision["reasons"]
    assert record.reasons == decision["reasons"]
    assert (record.decision, record.would_publish, record.failed) == ("withhold", False, False)
    assert (record.delta, record.items_kept, record.alpha_spent) == (0, 2, 0.04)
    assert decision["candidate"] == decision["control"] == {"name": "poor", "version": "1.0.0"}
    printed = (rehearsed.parent / "printed").read_text()
    assert "both copies did the same on every item" in printed


def test_the_copy_has_another_seed_and_that_is_said(rehearsed: Path) -> None:
    (inner,) = _inners(rehearsed / ".trials/aa")
    arms = read_plan(inner).arms
    assert (arms.control.seed, arms.candidate.seed) == (7, 8)
    assert arms.candidate.model_copy(update={"seed": 7}) == arms.control
    rows = parquet.read(inner / layout.TRIALS, tables.TRIALS).to_pylist()
    assert len({row["seed"] for row in rows}) == 6
    assert "seed 7 against seed 8" in (rehearsed.parent / "said").read_text()


def test_a_pilot_runs_its_items_and_the_placebos_and_leaves_pairs_for_the_planner(rehearsed: Path) -> None:
    _, record = records(rehearsed)
    shown = json.loads("{" + (rehearsed.parent / "printed").read_text().split("\n{", 1)[1])
    folder = Path(shown["folder"])
    assert shown["passes"] == record.passes.model_dump()
    rows = parquet.read(folder / layout.PAIRS, tables.PAIRS).to_pylist()
    assert [row["item_id"] for row in rows] == [item.item_id for item in record.items]
    assert len(rows) == 2
    assert {row["stratum"] for row in rows} == {"left", "right"}
    ran = Counter(row["item_id"] for row in parquet.read(folder / layout.TRIALS, tables.TRIALS).to_pylist())
    assert ran == {**{item.item_id: 2 for item in record.items}, "placebo-0": 2}
    assert record.trials.model_dump() == {"candidate": 2, "control": 2}
    assert record.passes.control == sum(item.item_id == "item-0" for item in record.items)
    said = (rehearsed.parent / "said").read_text()
    assert "pilot: 6 trials, 1 repeat of 2 items and 1 placebo by both arms; placebos too, for one that passes" in said
    assert "differ alike" in shown["says_nothing"]


def test_a_pilot_that_saw_no_difference_between_items_says_so_and_what_to_do(rehearsed: Path, tmp_path: Path) -> None:
    _, record = records(rehearsed)
    shown = json.loads("{" + (rehearsed.parent / "printed").read_text().split("\n{", 1)[1])
    made = parquet.read(Path(shown["folder"]) / layout.PAIRS, tables.PAIRS).to_pylist()
    apart = [{**row, "candidate": 1, "control": place % 2} for place, row in enumerate(made)]
    parquet.write(tmp_path / layout.PAIRS.name, parquet.table(tables.PAIRS, apart))
    lines = pilot_lines(Rehearsed(record, tmp_path, False))
    assert lines[-1] == f"next: weighbridge plan --pilot {tmp_path}"
    assert "pilot 10 or more" in lines[-2]
    assert Rehearsed(record, tmp_path, False).shown()["says_nothing"] is None
    done = Rehearsed(record, Path(shown["folder"]), False)
    assert "saw no difference between items" in pilot_lines(done)[-2]
    assert "`weighbridge pilot --items 10`" in pilot_lines(done)[-1]
    assert not any("plan --pilot" in line for line in pilot_lines(done))
    assert "differ alike" in str(done.shown()["says_nothing"])


@pytest.mark.heavy
def test_a_clone_makes_the_pairs_of_a_pilot_anew_and_records_it_once(
    rehearsed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = Path(shutil.copytree(rehearsed, tmp_path / "s", symlinks=True))
    before = (root / layout.REHEARSALS).read_bytes()
    ended = call(monkeypatch, capfd, root, "pilot --items 2 --json")
    assert ended.code == 0, ended.err
    assert (Path(json.loads(ended.out)["folder"]) / layout.PAIRS).exists()
    assert (root / layout.REHEARSALS).read_bytes() == before
    assert call(monkeypatch, capfd, root, "pilot --items 2").code == 0


def test_a_rehearsal_has_a_journal_of_its_own_whatever_dvc_says(rehearsed: Path) -> None:
    parent = rehearsed.parent / "parent/.trials"
    (inner,) = _inners(parent / "pilot")
    assert len(finished(inner)) == 6
    assert not (parent / "journal.sqlite").exists()
    assert not (rehearsed / ".trials/pilot").exists()


def test_nothing_of_a_rehearsal_is_in_the_studys_own_record(rehearsed: Path, tmp_path: Path) -> None:
    for name in (".trials/journal.sqlite", ".trials/verdicts.sqlite", "data/frozen", "data/trials", "reports"):
        assert not (rehearsed / name).exists(), name
    root = Path(shutil.copytree(rehearsed, tmp_path / "s", symlinks=True))
    freeze(root)
    journal = Journal(layout.journal(root))
    how: dict[str, Any] = {"events": [], "pack_path": "data/pack"}
    record = make_record(root, read_plan(root), read_manifest(root), journal, find("none"), how, print)
    journal.close()
    assert (record["look"], record["earlier_looks"], record["candidates"]) == (1, [], ["able"])


def test_records_say_what_was_rehearsed_and_are_found_again(rehearsed: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(rehearsed, tmp_path / "s", symlinks=True))
    manifest = freeze(root)
    plan, (aa, pilot) = read_plan(root), records(root)
    sha = {item.item_id: item.item_sha256 for item in plan.items if not item.placebo}
    assert {item.item_id: item.item_sha256 for item in aa.items} == sha
    for record in (aa, pilot):
        assert (record.pack_sha256, record.slice_id) == (manifest.pack_sha256, manifest.slice_id)
    assert aa.isolation
    assert runs_of([aa, pilot], manifest.slice_id, "poor", "1.0.0") == [aa]
    later = aa.model_copy(update={"at": "2999-01-01T00:00:00Z"})
    assert runs_of([later, aa], manifest.slice_id, "poor", "1.0.0") == [later, aa], "in the order of the file"
    assert runs_of([aa], manifest.slice_id, "poor", "1.0.1") == []
    assert runs_of([aa], "0" * 64, "poor", "1.0.0") == []
    ran = [item.item_id for item in pilot.items]
    assert piloted([aa, pilot], plan.items) == ran
    edited = [item.model_copy(update={"item_sha256": "0" * 64}) for item in plan.items]
    assert piloted([pilot], edited) == ran
    assert piloted([aa], plan.items) == []


def test_a_finished_rehearsal_is_told_and_not_run_again(
    rehearsed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = Path(shutil.copytree(rehearsed, tmp_path / "s", symlinks=True))
    before = (root / layout.REHEARSALS).read_bytes()
    ended = call(monkeypatch, capfd, root, "aa")
    assert (ended.code, ended.err) == (0, "")
    assert "already done" in ended.out
    assert json.loads(call(monkeypatch, capfd, root, "aa --json").out)["already_done"]
    monkeypatch.setenv("DVC_ROOT", str(rehearsed.parent / "parent"))
    ended = call(monkeypatch, capfd, root, "pilot --items 2")
    assert (ended.code, ended.err) == (0, "")
    assert "control poor 1.0.0: " in ended.out
    assert "`weighbridge pilot --items 10`" in ended.out
    assert (root / layout.REHEARSALS).read_bytes() == before


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_study(tmp_path_factory.mktemp("template") / "study", items=3, placebos=1)


@pytest.fixture
def fresh(template: Path, tmp_path: Path) -> Path:
    """A study that nothing was run on."""
    return Path(shutil.copytree(template, tmp_path / "study"))


@pytest.fixture
def weighbridge(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[[str], Ended]:
    return lambda command: call(monkeypatch, capfd, fresh, command)


def edit_params(root: Path, **arms: Any) -> None:
    value = yaml.safe_load((root / "params.yaml").read_text())
    for arm, changes in arms.items():
        value["arms"][arm].update(changes)
    (root / "params.yaml").write_text(yaml.safe_dump(value, sort_keys=False))


def made(root: Path, *ids: str) -> Inner:
    """An inner study that holds these items, copied and not yet frozen."""
    outer = read_outer(root)
    items = [item for item in outer.plan.items if not ids or item.item_id in ids]
    inner = inner_study(outer, "pilot", outer.params, items)
    copy_study(root, inner.params, outer.pack, inner.items, inner.root)
    return inner


def forged(root: Path, **changes: Any) -> AaRecord:
    """A record of the study's first A/A, as if it had been run."""
    inner = _numbered(read_outer(root), 1)
    plan = inner.outer.plan
    value: dict[str, Any] = {
        "kind": "aa",
        "id": inner.id,
        "at": "2026-03-01T08:00:00Z",
        "pack_id": plan.pack_id,
        "pack_revision": plan.pack_revision,
        "pack_sha256": plan.pack_sha256,
        "slice_id": inner.outer.slice_id,
        "control": {"name": "poor", "version": "1.0.0"},
        "items": [{"item_id": i.item_id, "item_sha256": i.item_sha256} for i in inner.outer.real],
        "decision": "withhold",
        "reason": "interval_crosses_zero",
        "reasons": ["interval_crosses_zero"],
        "would_publish": False,
        "delta": 0.1,
        "lo": -0.2,
        "hi": 0.4,
        "alpha_spent": 0.04,
        "items_kept": 3,
        "isolation": ["namespaces"],
        "harness": {"version": "0.1.0", "python": "3.11.7", "system": "Linux"},
    }
    return validate(AaRecord, {**value, **changes}, "a record")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"decision": "publish", "reason": "publish_blocked_delta_only", "reasons": [], "would_publish": True},
            "THE HARNESS CROWNED A COPY OF THE CONTROL",
        ),
        ({"reason": "not_isolated", "reasons": ["not_isolated"], "would_publish": True}, "CROWNED A COPY"),
        ({"reason": "placebo_passed", "reasons": ["placebo_passed"]}, "a placebo passed its impossible oracle"),
    ],
)
def test_a_harness_that_is_caught_is_a_check_that_failed(
    changes: dict[str, Any], said: str, fresh: Path, weighbridge: Callable[[str], Ended]
) -> None:
    append_rehearsal(fresh, forged(fresh, **changes))
    ended = weighbridge("aa")
    assert ended.code == 1
    assert f"CHECK FAILED: {said}" in ended.out or "CHECK FAILED: THE HARNESS " + said in ended.out
    assert weighbridge("aa --json").code == 1


def test_a_paid_control_needs_the_word_to_spend_on_both_sides(fresh: Path, weighbridge: Callable[[str], Ended]) -> None:
    edit_params(fresh, control={"paid": True})
    ended = weighbridge("aa")
    assert ended.code == 2
    assert "arms candidate (poor) and control (poor): paid, and 16 trials of up to 320 s" in ended.err
    assert "WEIGHBRIDGE_SPEND=yes" in ended.err
    pilot = weighbridge("pilot --items 2")
    assert pilot.code == 2
    assert pilot.err.partition("\n")[0].startswith("pilot: 12 trials, 2 repeats of 2 items and 1 placebo by both arms")
    assert pilot.err.partition("\n")[2] == (
        "weighbridge: arm control (poor): paid, and 6 trials of up to 120 s in all would run; "
        "expected WEIGHBRIDGE_SPEND=yes in the environment; set it to spend\n"
    )
    assert read_rehearsals(fresh) == []


def test_again_makes_another_one_with_another_seed(fresh: Path, weighbridge: Callable[[str], Ended]) -> None:
    edit_params(fresh, control={"paid": True})
    append_rehearsal(fresh, forged(fresh))
    assert weighbridge("aa").code == 0
    again = weighbridge("aa --again")
    assert (again.code, "16 trials" in again.err) == (2, True), "it would run"
    assert "seed 7 against seed 9" in again.err
    assert weighbridge("aa").code == 0
    write(_numbered(read_outer(fresh), 2).root / layout.ADMITTED, "{}")
    assert "seed 7 against seed 9" in weighbridge("aa").err, "one that was begun goes on"


def test_how_it_runs_may_change_between_a_kill_and_the_next_go(fresh: Path) -> None:
    before = made(fresh)
    _freeze(before)
    plan = read_plan(before.root)
    text = (fresh / "params.yaml").read_text()
    (fresh / "params.yaml").write_text(text.replace("workers: 2", "workers: 1"))
    outer = read_outer(fresh)
    after = inner_study(outer, "pilot", outer.params, outer.plan.items)
    assert after.root == before.root
    _freeze(after)
    assert read_params(after.root).run.workers == 1
    assert read_plan(after.root) == plan


def test_a_pilot_may_lack_strata_that_the_protocol_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    weights = {"left": "0.9", "right": "0.1"}
    root = make_study(
        tmp_path / "s", items=5, placebos=1, protocol={"strata_weights": weights}, arms={"control": {"paid": True}}
    )
    for task in (root / "data/pack/tasks").glob("item-[12]/task.yaml"):
        task.write_text(task.read_text().replace("right", "left"))
    ended = call(monkeypatch, capfd, root, "pilot --items 2")
    assert "6 trials" in ended.err, "it would run"
    plan = read_plan(_inners(root / ".trials/pilot")[0])
    assert {item.stratum for item in plan.items if not item.placebo} == {"left"}


def test_an_aa_is_another_one_when_pack_protocol_or_control_are(fresh: Path) -> None:
    def ident() -> str:
        return _numbered(read_outer(fresh), 1).id

    seen = [ident()]
    edit_params(fresh, candidate={"seed": 1234})
    assert ident() == seen[0], "the candidate isn't in it"
    (fresh / "data/agents/poor/agent.py").write_text(STUBBORN)
    seen.append(ident())
    edit_params(fresh, control={"seed": 70})
    seen.append(ident())
    (fresh / "data/pack/tasks/item-0/statement.md").write_text("Another statement.\n")
    seen.append(ident())
    text = (fresh / "params.yaml").read_text()
    (fresh / "params.yaml").write_text(text.replace("min_detectable_effect: 0.05", "min_detectable_effect: 0.06"))
    seen.append(ident())
    assert len(set(seen)) == 5


def test_an_exploratory_study_gets_figures_and_a_tutorial_none(fresh: Path) -> None:
    params = read_params(fresh)
    for mode, runs in (("benchmark", "benchmark"), ("exploratory", "benchmark"), ("tutorial", "tutorial")):
        study = params.study.model_copy(update={"mode": mode})
        assert aa_params(params.model_copy(update={"study": study}), 1).study.mode == runs


def test_the_last_seed_is_followed_by_the_first(fresh: Path) -> None:
    for seed, other in ((2**53 - 1, 0), (None, None)):
        edit_params(fresh, control={"seed": seed})
        assert aa_params(read_params(fresh), 1).arms.candidate.seed == other


def test_the_copy_freezes_to_the_studys_own_items(fresh: Path) -> None:
    work = fresh / "data/pack/tasks/item-0/workspace"
    (work / "link").symlink_to("m_item_0.py")
    (work / "run.sh").write_text("#!/bin/sh\n")
    (work / "run.sh").chmod(0o755)
    write(fresh / "data/agents/poor/__pycache__/agent.pyc", "")
    (fresh / "data/agents/poor/beside").symlink_to("agent.py")
    event = {"rule": "missing_fixture", "time": "2026-03-01T08:00:00Z"}
    lines = [json.dumps({**event, "item_id": item}) for item in ("item-0", "item-1")]
    write(fresh / "data/exclusions.jsonl", "\n".join(lines) + "\n")
    home = layout.journal(fresh).resolve() / "pilot"
    outer = read_outer(fresh)
    some = [item for item in outer.plan.items if item.item_id in ("item-0", "placebo-0")]
    write(home / f".{inner_study(outer, 'pilot', outer.params, some).id}.tmp/left", "by a kill")
    inner = made(fresh, "item-0", "placebo-0")
    _freeze(inner)
    found, wanted = read_plan(inner.root), {item.item_id: item for item in inner.outer.plan.items}
    assert found.items == [wanted["item-0"], wanted["placebo-0"]]
    assert lines[0] in (inner.root / layout.EVENTS).read_text()
    assert "item-1" not in (inner.root / layout.EVENTS).read_text()
    assert (inner.root / "data/agents/poor/beside").is_symlink()
    assert not (inner.root / "data/agents/poor/__pycache__").exists()
    assert sorted(path.name for path in home.iterdir()) == [inner.id]


def test_a_git_source_by_a_relative_address_is_found_from_the_copy(fresh: Path, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repository")
    (repository / "old.orig").write_text("a name that only a git source may hold")
    folder = fresh / "data/pack/tasks/item-0"
    shutil.rmtree(folder / "workspace")
    source = pinned(repository, "v1", os.path.relpath(repository, folder))
    value = {**yaml.safe_load((folder / "task.yaml").read_text()), "source": source}
    (folder / "task.yaml").write_text(yaml.safe_dump(value))
    inner = made(fresh, "item-0", "placebo-0")
    _freeze(inner)
    copy = read_plan(inner.root).items[0]
    assert copy.source["git"] == str(repository.resolve())
    assert copy.tree_git == inner.outer.plan.items[0].tree_git


@pytest.mark.parametrize(
    "touch",
    [
        lambda inner: write(inner / "data/pack/tasks/item-0/statement.md", "An easier one.\n"),
        lambda inner: write(inner / "data/agents/poor/agent.py", STUBBORN),
        lambda inner: shutil.rmtree(inner / "data/pack/tasks/item-1"),
    ],
)
def test_an_inner_study_that_was_touched_is_refused(touch: Callable[[Path], object], fresh: Path) -> None:
    inner = made(fresh)
    touch(inner.root)
    with pytest.raises(InputError, match=r"isn't what was copied there.*delete the folder"):
        _freeze(inner)


@pytest.mark.parametrize(
    "value", ["yes", "1e5", "0o7", "1.10", "null", "~", "é\u2028\U0001f600", "a: b # c", "", " x "]
)
def test_text_is_written_so_that_it_stays_text(value: str) -> None:
    same = [value]
    data = {"a": value, value or "b": [1, None, True, same, same]}
    assert parse_yaml("here", written(data).decode()) == data


@pytest.mark.parametrize(
    ("command", "damage", "word"),
    [
        ("pilot --items 1", None, "2 to 3"),
        ("pilot --items 4", None, "2 to 3"),
        ("pilot --items -1", None, "2 to 3"),
        ("pilot --items many", None, "--items"),
        ("pilot", None, "--items"),
        ("aa", lambda root: (root / "params.yaml").unlink(), "params.yaml"),
        ("aa", lambda root: write(root / layout.REHEARSALS, HEADER + "\n{}\n"), "data/rehearsals.jsonl:2"),
        ("pilot --items 2", lambda root: write(root / layout.REHEARSALS, "{}\n"), "data/rehearsals.jsonl:1"),
        ("aa", lambda root: shutil.rmtree(root / "data/agents/poor"), "isn't there"),
        ("aa", lambda root: edit_params(root, control={"install_paths": ["data/x"]}), "overlaps"),
        ("aa", lambda root: write(root / ".trials/aa", "a file"), "aa"),
    ],
)
def test_what_cant_be_rehearsed_is_one_line_and_exit_2(
    command: str, damage: Callable[[Path], object] | None, word: str, fresh: Path, weighbridge: Callable[[str], Ended]
) -> None:
    (fresh / "data/x").symlink_to("pack/tasks")
    if damage is not None:
        damage(fresh)
    ended = weighbridge(command)
    said = [line for line in ended.err.splitlines() if not line.startswith("A/A: ")]
    assert (ended.code, ended.out, len(said)) == (2, "", 1), ended.err
    assert said[0].startswith("weighbridge: ")
    assert word in said[0]


def items(**sizes: int) -> list[PlanItem]:
    """Plan items of strata of these sizes, made from one of a real plan."""
    one = PLAN_ITEM
    return [
        one.model_copy(
            update={
                "item_id": f"{name}-{n}",
                "stratum": name,
                "item_sha256": hashlib.sha256(f"{name}-{n}".encode()).hexdigest(),
            }
        )
        for name, size in sizes.items()
        for n in range(size)
    ]


PLAN_ITEM = PlanItem.model_validate_json(
    json.dumps(
        {
            "item_id": "x", "rev": "1", "stratum": "s", "cluster": None, "placebo": False, "time_budget_s": 1,
            "prompt_path": "p", "prompt_sha256": "0" * 64, "interface": None, "allow": {"files_write": ["a"]},
            "oracle": {}, "canaries": [], "source": {}, "tree_sha256": "0" * 64, "tree_git": "0" * 40,
            "oracle_sha256": "0" * 64, "solution_sha256": None, "item_sha256": "0" * 64,
        }
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("sizes", "number", "expected"),
    [
        ({"a": 10, "b": 10}, 4, {"a": 2, "b": 2}),
        ({"a": 53, "b": 24, "c": 23}, 10, {"a": 5, "b": 3, "c": 2}),  # quotas 5.3, 2.4, 2.3: the rest goes to b
        ({"a": 5, "b": 5}, 3, {"a": 2, "b": 1}),  # equal remainders: by name
        ({"a": 98, "b": 2}, 2, {"a": 2}),
        ({"a": 3, "b": 1}, 4, {"a": 3, "b": 1}),
    ],
)
def test_a_pilot_is_spread_over_the_strata_by_largest_remainder(
    sizes: dict[str, int], number: int, expected: dict[str, int]
) -> None:
    assert Counter(item.stratum for item in choose(items(**sizes), number)) == expected


def test_nobody_chooses_the_items_of_a_pilot() -> None:
    every = items(a=40)
    chosen = [item.item_id for item in choose(every, 7)]
    assert chosen == [item.item_id for item in choose(every[::-1], 7)]
    by_digest = sorted(every, key=lambda item: hashlib.sha256(item.item_sha256.encode()).hexdigest())
    assert sorted(item.item_id for item in by_digest[:7]) == chosen
    renamed = [
        item.model_copy(update={"item_sha256": hashlib.sha256(item.item_sha256.encode()).hexdigest()}) for item in every
    ]
    assert [item.item_id for item in choose(renamed, 7)] != chosen


@pytest.fixture(scope="module")
def line(template: Path) -> str:
    """A line of the file as it is written."""
    root = template.parent / "lines"
    append_rehearsal(root, forged(template))
    return (root / layout.REHEARSALS).read_text().splitlines()[1]


def _with(**changes: Any) -> Callable[[str], str]:
    def change(line: str) -> str:
        value = {**json.loads(line), **changes}
        return json.dumps({k: v for k, v in value.items() if v != "drop"}, sort_keys=True, separators=(",", ":"))

    return change


TOUCHED: dict[str, Callable[[str], str]] = {
    "spaces": lambda line: line.replace(":", ": "),
    "another order": lambda line: json.dumps(dict(reversed(json.loads(line).items())), separators=(",", ":")),
    "a number written otherwise": lambda line: line.replace('"delta":0.1,', '"delta":0.10,'),
    "a carriage return": lambda line: line + "\r",
    "cut off": lambda line: line[:-1],
    "two in one": lambda line: line + line,
    "empty": lambda _: "",
    "a list": lambda _: "[]",
    "a repeated key": lambda line: line.replace('"delta":0.1,', '"delta":0.1,"delta":0,'),
    "NaN": lambda line: line.replace('"delta":0.1,', '"delta":NaN,'),
    "deep": lambda _: "[" * 60000,
    "no kind": _with(kind="drop"),
    "another kind": _with(kind="ab"),
    "kind as list": _with(kind=["aa"]),
    "kind of the other": _with(kind="pilot"),
    "no decision": _with(decision="drop"),
    "unknown key": _with(note="fine"),
    "beyond one": _with(delta=1.5),
    "limits crossed": _with(lo=0.5),
    "one limit": _with(hi=None),
    "published and not crowned": _with(decision="publish"),
    "more kept than there are": _with(items_kept=4),
    "no items": _with(items=[]),
    "an item twice": _with(items=[{"item_id": "a", "item_sha256": "0" * 64}] * 2),
    "a short digest": _with(pack_sha256="0"),
    "an id that is a path": _with(id="../../../../etc"),
    "a local time": _with(at="2026-03-01T08:00:00+01:00"),
    "no such day": _with(at="2026-02-30T08:00:00Z"),
    "decimals as text": _with(delta="0.1"),
}


@pytest.mark.parametrize("how", TOUCHED)
def test_a_line_that_was_touched_is_refused_by_its_number(how: str, line: str, tmp_path: Path) -> None:
    write(tmp_path / layout.REHEARSALS, f"{HEADER}\n{line}\n{TOUCHED[how](line)}\n{line}\n")
    with pytest.raises(InputError, match=r"data/rehearsals\.jsonl:3") as error:
        read_rehearsals(tmp_path)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 1600
    before = (tmp_path / layout.REHEARSALS).read_bytes()
    with pytest.raises(InputError):
        append_rehearsal(tmp_path, validate(AaRecord, json.loads(line), "a line"))
    assert (tmp_path / layout.REHEARSALS).read_bytes() == before


@pytest.mark.parametrize("data", [b"\xff\n", b"\xef\xbb\xbf{}", b"\n", b'{"schema": "weighbridge.rehearsals/2"}\n'])
def test_a_file_without_its_header_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / layout.REHEARSALS).write_bytes(data)
    with pytest.raises(InputError, match=r"rehearsals\.jsonl"):
        read_rehearsals(tmp_path)


def test_no_file_no_line_and_no_newline_at_the_end_are_read(line: str, tmp_path: Path) -> None:
    assert read_rehearsals(tmp_path) == []
    for text, count in (("", 0), (HEADER, 0), (HEADER + "\n", 0), (f"{HEADER}\n{line}", 1)):
        write(tmp_path / layout.REHEARSALS, text)
        assert len(read_rehearsals(tmp_path)) == count
        append_rehearsal(tmp_path, validate(AaRecord, json.loads(line), "a line"))
        assert (tmp_path / layout.REHEARSALS).read_text() == f"{HEADER}\n" + f"{line}\n" * (count + 1)


def test_rehearsals_that_end_at_once_lose_no_line(template: Path, tmp_path: Path) -> None:
    one = forged(template)
    many = [one.model_copy(update={"id": f"{n:016x}"}) for n in range(16)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda record: append_rehearsal(tmp_path, record), many))
    assert sorted(record.id for record in read_rehearsals(tmp_path)) == [record.id for record in many]
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["rehearsals.jsonl"]


@pytest.mark.heavy
def test_a_rehearsal_of_a_study_that_ran_changes_nothing_of_it(study: Path) -> None:
    def held() -> dict[str, str]:
        paths = [p for p in sorted(study.rglob("*")) if p.is_file() and not p.is_relative_to(study / ".trials")]
        kept = [p for p in paths if p != study / layout.REHEARSALS and "__pycache__" not in p.parts]
        return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in kept}

    def trials() -> list[Any]:
        with sqlite3.connect(study / ".trials/journal.sqlite") as db:
            return [db.execute(f"SELECT * FROM {name}").fetchall() for name in ("campaigns", "claims", "trials")]

    before = held(), trials()
    stage(study, "aa", "pilot --items 2", "aa --again")
    assert (held(), trials()) == before
    assert [record.kind for record in read_rehearsals(study)] == ["aa", "pilot", "aa"]
    text = (study / "params.yaml").read_text()
    (study / "params.yaml").write_text(text.replace("protocol:\n", "protocol:\n  campaign: '2'\n"))
    stage(study, *PIPELINE)
    assert json.loads((study / layout.DECISION).read_bytes())["looks"]["look"] == 2
