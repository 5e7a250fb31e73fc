"""The stages on a small real study, called as DVC calls them."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from stages.contract import layout, parquet, tables
from stages.contract.decision import Decision
from tests.support.mini import REPO, make_study, stage, write, write_params

OUTPUTS = ("data/frozen", "data/ledger", "data/kept", "reports")


def digests(root: Path, *folders: str) -> dict[str, str]:
    """sha256 of every file below these folders."""
    return {
        p.relative_to(root).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for folder in folders
        for p in sorted((root / folder).rglob("*"))
        if p.is_file()
    }


def rows(root: Path, name: Path, schema: pa.Schema) -> list[dict[str, object]]:
    return list(parquet.read(root / name, schema).to_pylist())


def decision(root: Path) -> dict[str, object]:
    return dict(json.loads((root / layout.DECISION).read_bytes()))


def test_every_planned_trial_is_scored_and_the_decision_says_why_it_is_withheld(ran: Path) -> None:
    found = decision(ran)
    Decision.model_validate(found)
    counts = found["counts"]
    assert isinstance(counts, dict)
    assert counts["planned"] == 4 * 2 * 2 == counts["scored"] + counts["excluded"] + counts["missing"]
    assert (counts["placebos_run"], counts["placebos_passed"]) == (8, 0)
    assert found["reason"] == "too_few_clean_tasks"
    assert found["headline"] is None
    assert len(rows(ran, layout.LEDGER, tables.LEDGER)) == 24


def test_agents_earn_passes_and_fails_and_their_notes_are_counted(ran: Path) -> None:
    ledger = rows(ran, layout.LEDGER, tables.LEDGER)
    real = [r for r in ledger if not r["placebo"]]
    assert {r["status"] for r in real} == {"passed", "failed"}
    noted = [r for r in ledger if r["unauthorised_files"]]
    assert noted
    assert {f["symbol"] for f in rows(ran, layout.FINDINGS, tables.FINDINGS)} == {"NOTES.txt"}


def test_repeats_get_seeds_of_their_own(ran: Path) -> None:
    trials = rows(ran, layout.TRIALS, tables.TRIALS)
    seeds = {t["seed"] for t in trials if t["arm"] == "candidate"}
    assert len(seeds) == 12
    expected = hashlib.sha256(b'[7,"item-0",1]').digest()[:8]
    mine = next(t for t in trials if (t["item_id"], t["arm"], t["repeat"]) == ("item-0", "candidate", 1))
    assert mine["seed"] == str(int.from_bytes(expected, "big"))


def test_arms_of_a_block_run_in_the_registered_order(ran: Path) -> None:
    plan = json.loads((ran / layout.PLAN).read_bytes())
    first = {(b["item_id"], b["repeat"]): b["first"] for b in plan["schedule"]}
    for trial in rows(ran, layout.TRIALS, tables.TRIALS):
        assert (trial["position"] == 0) == (first[(trial["item_id"], trial["repeat"])] == trial["arm"])


def test_forced_again_the_pure_stages_write_the_same_bytes(study: Path) -> None:
    before = digests(study, *OUTPUTS)
    for again in ("freeze", "score", "exclude", "report"):
        stage(study, again)
        assert digests(study, *OUTPUTS) == before, again


def test_the_number_of_workers_changes_no_byte_given_the_same_trials(study: Path) -> None:
    before = digests(study, *OUTPUTS)
    for workers in (1, 4):
        write_params(study, run={"workers": workers})
        stage(study, "freeze", "run", "score", "exclude", "report")
        assert digests(study, *OUTPUTS) == before, workers


def test_run_again_starts_nothing_and_hands_on_the_same_bytes(study: Path) -> None:
    before = digests(study, "data/trials")
    stage(study, "run")
    assert digests(study, "data/trials") == before


def test_the_bill_lists_every_file_and_sha256sum_agrees(ran: Path) -> None:
    bill = json.loads((ran / layout.BILL).read_bytes())
    listed = {row["path"] for row in bill["files"]}
    there = set(digests(ran, "data/frozen", "data/preflight", "data/trials", "data/ledger", "data/kept", "reports"))
    assert there - listed == {"reports/bill.json", "reports/run_bill.txt"}
    done = subprocess.run(["sha256sum", "-c", "--quiet", "reports/run_bill.txt"], cwd=ran, check=False)
    assert done.returncode == 0


@pytest.mark.heavy
def test_a_paid_arm_needs_the_word_to_spend(tmp_path: Path) -> None:
    root = make_study(tmp_path / "s", arms={"candidate": {"paid": True}})
    stage(root, "freeze", "preflight")
    refused = stage(root, "run", check=False)
    assert refused.returncode == 2
    assert "12 trials" in refused.stderr
    assert "WEIGHBRIDGE_SPEND=yes" in refused.stderr
    stage(root, "run", env={"WEIGHBRIDGE_SPEND": "yes"})


def test_show_gives_the_replayable_object(ran: Path) -> None:
    found = json.loads(stage(ran, "show item-0 candidate 0 --json").stdout)
    row = next(
        r
        for r in rows(ran, layout.LEDGER, tables.LEDGER)
        if (r["item_id"], r["arm"], r["repeat"]) == ("item-0", "candidate", 0)
    )
    statement = (ran / "data/pack/tasks/item-0/statement.md").read_bytes()
    assert found["prompt_sha256"] == hashlib.sha256(statement).hexdigest()
    assert found["oracle_pass"] == row["passed"]
    assert {"rev", "patch_sha256", "oracle_sha256", "verdict", "invented_imports", "invented_env"} <= set(found)


def test_show_prints_a_finding_a_line(ran: Path) -> None:
    one = rows(ran, layout.FINDINGS, tables.FINDINGS)[0]
    said = stage(ran, f"show {one['item_id']} {one['arm']} {one['repeat']}").stdout
    where = f"{one['path']}:{one['line']} {one['kind']} {one['symbol']}"
    assert f"findings               {where} ({one['counted']}, {one['seen']}, {one['how']})\n" in said


@pytest.mark.heavy
def test_without_isolation_the_study_runs_and_is_withheld(tmp_path: Path) -> None:
    root = make_study(tmp_path / "s", items=2, placebos=1, protocol={"trial_budget": 1})
    for name in ("freeze", "preflight", "run", "score", "exclude", "report"):
        stage(root, name, env={"WEIGHBRIDGE_ISOLATION": "none"})
    found = decision(root)
    assert found["reason"] == "not_isolated"
    write_params(root, protocol={"trial_budget": 1, "campaign": "2"}, run={"allow_no_isolation": False})
    stage(root, "freeze")
    refused = stage(root, "preflight", env={"WEIGHBRIDGE_ISOLATION": "none"}, check=False)
    assert refused.returncode == 2
    assert "allow_no_isolation" in refused.stderr


def test_an_exploratory_study_gives_outcomes_with_dates_and_no_rates(study: Path) -> None:
    write_params(study, study={"mode": "exploratory"})
    stage(study, "freeze", "exclude", "report")
    found = decision(study)
    assert found["reason"] == "not_a_benchmark"
    assert found["summary"] is None
    report = (study / layout.REPORT_MD).read_text(encoding="utf-8")
    assert "Transcript" in report
    assert "rate)" not in report


def test_where_the_kernel_refuses_namespaces_doctor_says_so_and_what_helps() -> None:
    """In a user namespace of our own, in which no further one may be made."""
    refuse = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    words = ["unshare", "-Ur", "sh", "-c", refuse, "sh"]
    if shutil.which("unshare") is None or subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no user namespace can be made here in which further ones are refused")
    done = subprocess.run(
        [*words, sys.executable, "-m", "stages", "doctor", "--json"],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["isolation"] == "none"
    assert "namespace" in found["why"]
    assert "allow user namespaces" in found["advice"][0]


@pytest.mark.parametrize("name", ["candidate", pytest.param("control", marks=pytest.mark.heavy)])
@pytest.mark.heavy
def test_a_runner_that_isnt_the_pinned_one_starts_no_campaign(tmp_path: Path, name: str) -> None:
    root = make_study(tmp_path / "s", items=2, placebos=1, arms={name: {"version": "2.0.0"}})
    stage(root, "freeze", "preflight")
    refused = stage(root, "run", check=False)
    assert refused.returncode == 2
    assert "1.0.0" in refused.stderr
    assert "2.0.0" in refused.stderr
    assert not (root / layout.TRIALS).exists()


@pytest.mark.heavy
def test_a_runner_whose_files_change_during_the_campaign_is_found(tmp_path: Path) -> None:
    root = make_study(tmp_path / "s", items=2, placebos=1, protocol={"trial_budget": 1})
    agent = root / "data/agents/able/agent.py"
    stage(root, "freeze", "preflight")
    shutil.copytree(root, tmp_path / "t")
    # The agent's own folder is read-only inside, so the change comes from outside, between two goes of the campaign.
    other = tmp_path / "t"
    stage(other, "run")
    write(other / "data/agents/able/agent.py", agent.read_text(encoding="utf-8") + "# patched\n")
    import sqlite3

    with sqlite3.connect(other / ".trials/journal.sqlite") as db:  # as if the last trials had been interrupted
        for table in ("trials", "patches", "streams", "claims"):
            db.execute(f"DELETE FROM {table} WHERE item='item-1'")
    stage(other, "run", "score", "exclude", "report")
    assert "runner_changed" in decision(other)["reasons"]  # type: ignore[operator]
