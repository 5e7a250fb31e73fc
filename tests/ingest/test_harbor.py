from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.ingest.harbor import FORMAT, sniff
from tests.ingest.foreign import SECRET, holds_no, kinds, read, real, refused, survives, variants

TIMEOUT = {"exception_type": "AgentTimeoutError", "exception_message": "Agent execution timed out after 900.0 seconds"}


def trial(job: Path, item: str, tag: str, reward: Any = 1.0, error: dict[str, Any] | None = None, **other: Any) -> Path:
    """Write one trial's folder, as the harness lays it out."""
    folder = job / f"{item}__{tag}"
    (folder / "verifier").mkdir(parents=True)
    config = {
        "task": {"path": f"tasks/{item}", "git_url": None},
        "trial_name": folder.name,
        "timeout_multiplier": 1.0,
        "agent": {"name": "walker", "model_name": "acme/large-1", "kwargs": {"api_key": SECRET, "temperature": 0}},
        "job_id": "job-1",
    }
    result = {
        "id": f"id-{job.name}-{folder.name}",
        "task_name": item,
        "trial_name": folder.name,
        "task_checksum": f"sum-{item}",
        "config": config,
        "agent_info": {"name": "walker", "version": "2.1"},
        "agent_result": {"n_input_tokens": 100, "n_output_tokens": 20, "cost_usd": 0.5},
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": error,
        "started_at": "2026-03-01T10:00:00.500000Z",
        "agent_execution": {"started_at": "2026-03-01T10:00:10Z", "finished_at": "2026-03-01T10:01:40Z"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "result.json").write_text(json.dumps(result | other))
    if reward is not None:
        (folder / "verifier/reward.txt").write_text(f"{reward}\n")
    return folder


def job(folder: Path, total: int, **stats: Any) -> None:
    said = {"id": "job-1", "finished_at": "2026-03-01T11:00:00Z", "n_total_trials": total, "stats": stats}
    (folder / "result.json").write_text(json.dumps(said))


def test_a_trial_is_read_as_it_stands(tmp_path: Path) -> None:
    trial(tmp_path / "j", "alpha", "aa")
    rows, reading, notes = read(FORMAT, tmp_path / "j")
    assert len(rows) == 1
    row = rows[0]
    assert (row["item_id"], row["status"], row["score"], row["repeat"]) == ("alpha", "passed", 1.0, 0)
    assert (row["wall_s"], row["started_at"]) == (90.0, "2026-03-01T10:00:00.500Z")
    assert (row["input_tokens"], row["output_tokens"], row["cost_usd"]) == (100, 20, 0.5)
    assert (row["item_digest"], row["evidence"], row["served_model"]) == ("sum-alpha", None, None)
    facts = reading.facts["walker/acme/large-1"]
    assert (facts["name"], facts["version"], facts["model"], facts["temperature"]) == (
        "walker",
        "2.1",
        "acme/large-1",
        "0",
    )
    assert not notes.findings
    holds_no(reading, notes, SECRET)


def test_errors_become_what_the_policy_says(tmp_path: Path) -> None:
    where = tmp_path / "j"
    trial(where, "a", "1", 1.0, TIMEOUT)
    trial(where, "b", "1", 0.0, TIMEOUT)
    trial(where, "c", "1", None, {"exception_type": "VerifierTimeoutError", "exception_message": "after 600 s"})
    trial(where, "d", "1", None, {"exception_type": "RewardFileNotFoundError", "exception_message": "no file"})
    trial(where, "e", "1", 1.0, {"exception_type": "NonZeroAgentExitCodeError", "exception_message": "exit 1"})
    trial(where, "f", "1", None, {"exception_type": "RuntimeError", "exception_message": f"key {SECRET}\nmore"})
    trial(where, "g", "1", None, {"exception_type": "CancelledError", "exception_message": ""})
    trial(where, "h", "1", None, {"exception_type": "DaytonaError", "exception_message": "no sandbox"})
    trial(where, "i", "1", None)
    rows, reading, notes = read(FORMAT, where, infra_errors=["DaytonaError"])
    got = {row["item_id"]: (row["status"], row["late_pass"]) for row in rows}
    assert got == {
        "a": ("timeout", True),
        "b": ("timeout", False),
        "c": ("broken", False),
        "d": ("broken", False),
        "e": ("passed", False),
        "f": ("aborted", False),
        "g": (None, False),
        "h": ("lost", False),
        "i": (None, False),
    }
    assert [(f.kind, f.count, f.items) for f in notes.findings] == [("not_scored", 2, ("g", "i"))]
    assert next(r["reason"] for r in rows if r["item_id"] == "f") == "RuntimeError: key [cut]"
    assert next(r["reason"] for r in rows if r["item_id"] == "e").startswith("NonZeroAgentExitCodeError")
    holds_no(reading, notes, SECRET, "more")


def test_a_fault_is_the_harness_s_only_where_it_was_declared(tmp_path: Path) -> None:
    trial(tmp_path / "j", "h", "1", None, {"exception_type": "DaytonaError", "exception_message": "no sandbox"})
    assert read(FORMAT, tmp_path / "j")[0][0]["status"] == "aborted"


def test_a_fraction_needs_a_declared_threshold(tmp_path: Path) -> None:
    trial(tmp_path / "j", "a", "1", 0.5)
    assert "--threshold" in refused(FORMAT, tmp_path / "j")
    assert read(FORMAT, tmp_path / "j", threshold="1/2")[0][0]["status"] == "passed"
    assert read(FORMAT, tmp_path / "j", threshold="0.51")[0][0]["status"] == "failed"


def test_scores_out_of_range_and_nan_have_no_outcome(tmp_path: Path) -> None:
    trial(tmp_path / "j", "a", "1", 1.2)
    trial(tmp_path / "j", "b", "1", float("nan"))
    rows, _, notes = read(FORMAT, tmp_path / "j")
    assert [row["status"] for row in rows] == [None, None]
    assert [(f.kind, f.items) for f in notes.findings] == [("not_scored", ("b",)), ("score_out_of_range", ("a",))]


def test_several_rewards_are_chosen_by_name(tmp_path: Path) -> None:
    both = {"rewards": {"tests": 1, "style": 0}}
    folder = trial(tmp_path / "j", "a", "1", None, verifier_result=both)
    assert "--filter" in refused(FORMAT, tmp_path / "j")
    assert read(FORMAT, tmp_path / "j", filter="tests")[0][0]["status"] == "passed"
    assert read(FORMAT, tmp_path / "j", filter="style")[0][0]["status"] == "failed"
    refused(FORMAT, tmp_path / "j", filter="speed")
    (folder / "verifier/reward.json").write_text('{"tests": 0, "style": 0}')
    assert kinds(read(FORMAT, tmp_path / "j", filter="tests")[2]) == ["total_disagrees"]


def test_attempts_are_repeats_over_all_jobs(tmp_path: Path) -> None:
    for tag in ("x", "y"):
        trial(tmp_path / "jobs/one", "a", tag)
    trial(tmp_path / "jobs/two", "a", "z", 0.0)
    rows, _, _ = read(FORMAT, tmp_path / "jobs")
    assert [(row["repeat"], row["status"]) for row in rows] == [(0, "passed"), (1, "passed"), (2, "failed")]


def test_a_copied_trial_is_read_once_and_an_edited_copy_keeps_its_number(tmp_path: Path) -> None:
    folder = trial(tmp_path / "j", "a", "x")
    shutil.copytree(folder, tmp_path / "j/old/a__x")
    rows, _, notes = read(FORMAT, tmp_path / "j")
    assert (len(rows), kinds(notes)) == (1, ["nested_copies"])
    assert len(read(FORMAT, [folder, tmp_path / "j/old"])[0]) == 1
    copy = tmp_path / "j/old/a__x/result.json"
    copy.write_text(copy.read_text().replace('{"reward": 1.0}', '{"reward": 0.0}'))
    rows, _, _ = read(FORMAT, tmp_path / "j")
    assert [(row["repeat"], row["status"]) for row in rows] == [(0, "passed"), (0, "failed")]
    assert rows[0]["trial"] == rows[1]["trial"]


def test_a_time_without_a_zone_stays_unknown_and_its_span_is_known(tmp_path: Path) -> None:
    spent = {"started_at": "2025-11-19T14:39:41.25", "finished_at": "2025-11-19T14:41:11.75"}
    trial(tmp_path / "j", "a", "x", started_at="2025-11-19T14:39:23.715998", agent_execution=spent)
    row = read(FORMAT, tmp_path / "j")[0][0]
    assert (row["started_at"], row["wall_s"]) == (None, 90.5)


def test_a_trial_without_a_result_has_no_outcome(tmp_path: Path) -> None:
    trial(tmp_path / "j", "a", "x")
    (trial(tmp_path / "j", "a", "y") / "result.json").unlink()
    job(tmp_path / "j", 3)
    rows, _, notes = read(FORMAT, tmp_path / "j")
    assert [(row["item_id"], row["repeat"], row["status"]) for row in rows] == [("a", 0, "passed"), ("a", 1, None)]
    assert kinds(notes) == ["unfinished_run", "not_scored", "unfinished_run"]
    assert [f.found for f in notes.findings] == [
        "3 trials planned, 1 have a result",
        "1 trials without an outcome: a",
        "1 trials that were started and have no result.json: a",
    ]


def test_what_a_job_claims_is_set_against_its_trials(tmp_path: Path) -> None:
    where = tmp_path / "j"
    trial(where, "a", "x")
    trial(where, "b", "x", 0.0)
    trial(where, "c", "x", None, {"exception_type": "RuntimeError", "exception_message": "gone"})
    listed = {"reward": {"1.0": ["a__x"], "0.0": ["b__x"]}}
    good = {
        "n_trials": 3,
        "metrics": [{"mean": 1 / 3}],
        "reward_stats": listed,
        "exception_stats": {"RuntimeError": ["c__x"]},
    }
    job(where, 3, n_errored_trials=1, evals={"walker": good})
    assert kinds(read(FORMAT, where)[2]) == []
    wrong = good | {"metrics": [{"mean": 0.5}], "reward_stats": {"reward": {"1.0": ["a__x", "b__x"]}}}
    job(where, 3, n_errored_trials=0, evals={"walker": wrong})
    found = [f.found for f in read(FORMAT, where)[2].findings if f.kind == "total_disagrees"]
    assert found == [
        "n_errored_trials is 0, the trials give 1",
        "walker: 1 trials are listed with reward 1.0 and have another: b__x",
        "walker: mean 0.5, the trials give 0.333333",
    ]


def test_a_copied_job_claims_what_its_copied_trials_give(tmp_path: Path) -> None:
    trial(tmp_path / "jobs/j", "a", "x")
    job(tmp_path / "jobs/j", 1)
    shutil.copytree(tmp_path / "jobs/j", tmp_path / "jobs/k")
    rows, _, notes = read(FORMAT, tmp_path / "jobs")
    assert (len(rows), kinds(notes)) == (1, ["nested_copies"])


def test_trials_that_a_job_ran_anew_are_noted(tmp_path: Path) -> None:
    trial(tmp_path / "j", "a", "x")
    job(tmp_path / "j", 1, n_retries=2)
    assert kinds(read(FORMAT, tmp_path / "j")[2]) == ["tries_collapsed"]


def test_a_reward_file_that_says_something_else_is_noted(tmp_path: Path) -> None:
    (trial(tmp_path / "j", "a", "x", 0.0) / "verifier/reward.txt").write_text("1")
    rows, _, notes = read(FORMAT, tmp_path / "j")
    assert rows[0]["status"] == "failed"
    assert kinds(notes) == ["total_disagrees"]


def test_models_that_served_come_from_the_trajectory(tmp_path: Path) -> None:
    folder = trial(tmp_path / "j", "a", "x")
    (folder / "agent").mkdir()
    steps = [{"source": "user", "message": "do it"}, {"model_name": "large-1-20260101"}, {"model_name": "small-1"}]
    (folder / "agent/trajectory.json").write_text(json.dumps({"steps": steps}))
    row = read(FORMAT, tmp_path / "j")[0][0]
    assert (row["evidence"], row["served_model"]) == ("exported", "large-1-20260101 and small-1")
    (folder / "agent/trajectory.json").write_text('{"steps": [')
    assert read(FORMAT, tmp_path / "j")[0][0]["evidence"] is None


def test_strata_come_from_a_field(tmp_path: Path) -> None:
    trial(tmp_path / "j", "a", "x", source="hub")
    assert read(FORMAT, tmp_path / "j", strata="source")[0][0]["stratum"] == "hub"


def test_it_knows_its_own(tmp_path: Path) -> None:
    folder = trial(tmp_path / "jobs/j", "a", "x")
    job(tmp_path / "jobs/j", 1)
    assert all(map(sniff, (folder, folder / "result.json", tmp_path / "jobs/j", tmp_path / "jobs")))
    (tmp_path / "other").mkdir()
    (tmp_path / "other/result.json").write_text('{"results": []}')
    assert not any(map(sniff, (tmp_path / "other", tmp_path / "other/result.json", tmp_path / "none")))


BAD = {
    "empty": b"",
    "blank": b" \n",
    "cut": b'{"task_name": "a", "trial_name"',
    "list": b"[]",
    "twice": b'{"task_name": "a", "trial_name": "t", "task_name": "b"}',
    "bom": b'\xef\xbb\xbf{"task_name": "a", "trial_name": "t"}',
    "latin": b'{"task_name": "\xe9", "trial_name": "t"}',
    "deep": b'{"trial_name": ' + b"[" * 100_000,
    "huge": b'{"trial_name": ' + b"9" * 10_000 + b"}",
    "foreign": b'{"hello": 1}',
    "noname": b'{"trial_name": "t", "task_name": null}',
    "number": b'{"trial_name": "t", "task_name": 1.5}',
    "control": b'{"trial_name": "t", "task_name": "a\\nb"}',
    "surrogate": b'{"trial_name": "t", "task_name": "\\ud800"}',
    "verifier": b'{"trial_name": "t", "task_name": "a", "verifier_result": []}',
    "rewards": b'{"trial_name": "t", "task_name": "a", "verifier_result": {"rewards": "1"}}',
    "reward": b'{"trial_name": "t", "task_name": "a", "verifier_result": {"rewards": {"reward": "1"}}}',
    "exception": b'{"trial_name": "t", "task_name": "a", "exception_info": "boom"}',
    "type": b'{"trial_name": "t", "task_name": "a", "exception_info": {"exception_type": 5}}',
    "time": b'{"trial_name": "t", "task_name": "a", "started_at": 17}',
    "moment": b'{"trial_name": "t", "task_name": "a", "started_at": "yesterday"}',
    "tokens": b'{"trial_name": "t", "task_name": "a", "agent_result": {"n_input_tokens": -1}}',
    "config": b'{"trial_name": "t", "task_name": "a", "config": 3}',
    "agent": b'{"trial_name": "t", "task_name": "a", "config": {"agent": [1]}}',
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_a_malformed_result_is_refused_in_a_line(tmp_path: Path, case: str) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t/result.json").write_bytes(BAD[case])
    refused(FORMAT, tmp_path / "t")


def test_links_out_of_the_log_and_things_in_place_of_files_are_refused(tmp_path: Path) -> None:
    folder = trial(tmp_path / "j", "a", "x")
    os.symlink("/etc", tmp_path / "j/zz")
    assert "link" in refused(FORMAT, tmp_path / "j")
    (tmp_path / "j/zz").unlink()
    (folder / "result.json").rename(folder / "r")
    os.symlink(folder / "r", folder / "result.json")
    assert "link" in refused(FORMAT, tmp_path / "j")
    refused(FORMAT, tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "no trial" in refused(FORMAT, tmp_path / "empty")


def test_wrong_types_anywhere_give_a_reading_or_a_refusal(tmp_path: Path) -> None:
    folder = trial(tmp_path / "j", "a", "x", error=TIMEOUT)
    good = json.loads((folder / "result.json").read_text())
    for odd in variants(good):
        (folder / "result.json").write_text(json.dumps(odd))
        survives(FORMAT, tmp_path / "j")
    (folder / "result.json").write_text(json.dumps(good))
    evals = {
        "w": {
            "n_trials": 1,
            "metrics": [{"mean": 1.0}],
            "reward_stats": {"reward": {"1.0": ["a__x"]}},
            "exception_stats": {"E": ["a__x"]},
        }
    }
    job(tmp_path / "j", 1, n_errored_trials=1, evals=evals)
    for odd in variants(json.loads((tmp_path / "j/result.json").read_text())):
        (tmp_path / "j/result.json").write_text(json.dumps(odd))
        survives(FORMAT, tmp_path / "j")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 1200), byte=st.integers(0, 255), cut=st.booleans())
def test_damage_gives_a_reading_or_a_refusal(tmp_path: Path, at: int, byte: int, cut: bool) -> None:
    path = tmp_path / "j/a__x/result.json"
    if not path.exists():
        trial(tmp_path / "j", "a", "x")
        (tmp_path / "whole").write_bytes(path.read_bytes())
    data = bytearray((tmp_path / "whole").read_bytes())
    at %= len(data)
    path.write_bytes(data[:at] if cut else data[:at] + bytes([byte]) + data[at + 1 :])
    survives(FORMAT, tmp_path / "j")


def test_a_real_trial_reads_as_its_files_say() -> None:
    # by eye: reward.txt holds 0, agent_execution 14:39:41.347675 to 14:41:11.685057; models by grep of model_name
    rows, reading, notes = read(FORMAT, real("harbor"))
    assert [(r["item_id"], r["status"], r["wall_s"], r["started_at"]) for r in rows] == [
        ("etl_checkpoint_resume_bug", "failed", 90.337382, None)
    ]
    assert (rows[0]["input_tokens"], rows[0]["output_tokens"]) == (672997, 12778)
    assert rows[0]["served_model"] == "claude-haiku-4-5-20251001 and claude-sonnet-4-5-20250929"
    assert not notes.findings
    holds_no(reading, notes, "/Users")
