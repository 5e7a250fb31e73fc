"""Inspect logs become rows: what counts as a pass, what has no outcome, what the session was. Numbers are by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from stages.contract.errors import InputError
from stages.ingest.inspect_log import FORMAT
from stages.ingest.model import Notes, Options, Reading
from tests.support.inspect_logs import (
    DEFLATED,
    MODEL,
    STORED,
    ZSTANDARD,
    call,
    header,
    members_of,
    sample,
    write_eval,
    write_json,
    zipped,
)

KEY = "sk-live-0123456789abcdefABCDEF"


def read(*paths: Path, **options: Any) -> tuple[Reading, Notes]:
    notes = Notes()
    return FORMAT.read(paths, Options(**options), notes), notes


def one(tmp_path: Path, given: dict[str, Any], **options: Any) -> dict[str, Any]:
    """The row of a log with one sample."""
    reading, _ = read(write_eval(tmp_path / "one.eval", [given]), **options)
    (row,) = reading.rows.to_pylist()
    return row


def kinds(notes: Notes) -> dict[str, int]:
    return {found.kind: found.count for found in notes.findings}


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])
def test_members_are_read_by_each_method_that_inspect_has_written(tmp_path: Path, method: int) -> None:
    reading, notes = read(write_eval(tmp_path / "x.eval", [sample("a"), sample("b", value="I")], header("ab"), method))
    assert reading.rows["item_id"].to_pylist() == ["a", "b"]
    assert reading.rows["status"].to_pylist() == ["passed", "failed"]
    assert notes.findings == []


def test_a_json_log_gives_the_rows_of_its_eval_log(tmp_path: Path) -> None:
    samples = [sample("a", 1), sample(7, 2, "I", events=[call(retries=1)])]
    zipped_rows, _ = read(write_eval(tmp_path / "x.eval", samples, header(["a", 7], 2)))
    plain_rows, _ = read(write_json(tmp_path / "x.json", samples, header(["a", 7], 2)))
    assert zipped_rows.rows.equals(plain_rows.rows)
    assert zipped_rows.facts == plain_rows.facts


def test_epochs_are_repeats_and_the_plan_is_the_listed_ids(tmp_path: Path) -> None:
    samples = [sample(item, epoch) for epoch in (1, 2) for item in ("a", "b")]
    reading, notes = read(write_eval(tmp_path / "x.eval", samples[:3], header(["a", "b", "c"], 2)))
    assert reading.rows["repeat"].to_pylist() == [1, 1, 2]
    assert reading.planned is not None
    assert reading.planned.repeats == 2
    assert dict(reading.planned.items) == {"a": ("parser", False), "b": ("parser", False), "c": (None, False)}
    (found,) = notes.findings
    assert (found.kind, found.count, found.items) == ("unfinished_run", 3, ("b", "c"))


@pytest.mark.parametrize(
    ("value", "status", "score"),
    [
        ("C", "passed", None),
        ("I", "failed", None),
        ("N", "failed", None),
        (True, "passed", 1.0),
        (False, "failed", 0.0),
        (1, "passed", 1.0),
        (0.0, "failed", 0.0),
        ("yes", "passed", None),
        ("No", "failed", None),
        ("1.0", "passed", 1.0),
    ],
)
def test_values_that_need_no_threshold(tmp_path: Path, value: Any, status: str, score: float | None) -> None:
    row = one(tmp_path, sample(value=value))
    assert (row["status"], row["score"], row["reason"]) == (status, score, None)


@pytest.mark.parametrize(("value", "status"), [(0.7, "passed"), (0.69, "failed"), ("P", "failed"), ("C", "passed")])
def test_a_fraction_passes_from_the_threshold_that_was_declared(tmp_path: Path, value: Any, status: str) -> None:
    assert one(tmp_path, sample(value=value), threshold=Fraction(7, 10))["status"] == status


@pytest.mark.parametrize("value", [0.7, "P"])
def test_a_fraction_without_a_threshold_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError, match="--threshold"):
        one(tmp_path, sample(value=value))


@pytest.mark.parametrize(
    ("over", "reason"),
    [
        ({"value": float("nan")}, "score is not a number"),
        (
            {"scores": {"verdict": {"value": float("nan"), "reason": "grader_failed"}}},
            "score is not a number (grader_failed)",
        ),
        ({"value": None}, "no score"),
        ({"scores": {}}, "not scored"),
        ({"scores": None}, "not scored"),
        ({"error": {"message": "CancelledError()", "traceback": "", "traceback_ansi": ""}}, "cancelled"),
        ({"invalidation": {"author": "x@y.example", "reason": "leaked"}}, "invalidated: leaked"),
        ({"value": float("nan"), "limit": {"type": "token", "limit": 5}}, "score is not a number; limit: token"),
    ],
)
def test_a_sample_without_a_verdict_has_no_outcome_and_is_counted(
    tmp_path: Path, over: dict[str, Any], reason: str
) -> None:
    reading, notes = read(write_eval(tmp_path / "x.eval", [sample(**over)]))
    assert (reading.rows["status"].to_pylist(), reading.rows["reason"].to_pylist()) == ([None], [reason])
    assert kinds(notes) == {"not_scored": 1}
    assert notes.findings[0].items == ("a",)


@pytest.mark.parametrize("value", [1.2, -0.1, float("inf"), 100, 10**400])
def test_a_score_outside_of_its_range_has_no_outcome(tmp_path: Path, value: float) -> None:
    reading, notes = read(write_json(tmp_path / "x.json", [sample(value=value)]))
    assert reading.rows["status"].to_pylist() == [None]
    assert reading.rows["score"].to_pylist() == [None]
    assert kinds(notes) == {"score_out_of_range": 1}


def test_an_error_is_an_abort_with_its_first_line_and_without_secrets(tmp_path: Path) -> None:
    message = f"APIError: 401 for key {KEY}, api_key='hunter2hunter2' of me@lab.example\nsecond line"
    row = one(tmp_path, sample(scores={}, output=None, error={"message": message, "traceback": KEY}))
    assert row["status"] == "aborted"
    assert row["reason"] == "APIError: 401 for key [cut], [cut]' of [cut]"
    assert one(tmp_path, sample(error={"message": "x" * 900}))["reason"] == "x" * 199 + "…"


def test_an_error_is_lost_only_where_its_text_was_declared_beforehand(tmp_path: Path) -> None:
    died = sample(scores={}, error={"message": "RuntimeError('container gone')"})
    assert one(tmp_path, died, infra_errors=("out of disk",))["status"] == "aborted"
    assert one(tmp_path, died, infra_errors=("container gone",))["status"] == "lost"
    assert one(tmp_path, died, infra_errors=("",))["status"] == "aborted"


@pytest.mark.parametrize(
    ("kind", "over", "status", "late"),
    [
        ("time", {"value": "C"}, "timeout", True),
        ("working", {"value": "I"}, "timeout", False),
        ("time", {"scores": {}}, "timeout", False),
        ("message", {"value": "C"}, "passed", False),
        ("token", {"value": "I"}, "failed", False),
        ("cost", {"scores": {}}, "aborted", False),
        ("context", {"scores": None}, "aborted", False),
    ],
)
def test_limits_of_time_are_timeouts_and_others_keep_the_score(
    tmp_path: Path, kind: str, over: dict[str, Any], status: str, late: bool
) -> None:
    row = one(tmp_path, sample(limit={"type": kind, "limit": 6}, **over))
    assert (row["status"], row["late_pass"], row["reason"]) == (status, late, f"limit: {kind}")


def test_of_several_scorers_one_is_chosen_by_name_or_none_counts(tmp_path: Path) -> None:
    two = sample(scores={"strict": {"value": "I"}, "kind": {"value": "C"}})
    with pytest.raises(InputError, match=r"one of kind, strict.*--filter"):
        one(tmp_path, two)
    assert one(tmp_path, two, filter="kind")["status"] == "passed"
    assert one(tmp_path, two, filter="strict")["status"] == "failed"
    with pytest.raises(InputError, match=r"no scorer 'other'; expected one of kind, strict"):
        one(tmp_path, two, filter="other")


def test_scorers_that_change_between_samples_are_several(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "x.eval", [sample("a"), sample("b", scores={"other": {"value": "C"}})], header("ab"))
    with pytest.raises(InputError, match="one of other, verdict"):
        read(path)
    assert read(path, filter="verdict")[0].rows["status"].to_pylist() == ["passed", None]


def test_a_scorer_of_several_values_has_a_name_for_each(tmp_path: Path) -> None:
    parts = sample(scores={"tests": {"value": {"fixed": 1, "kept": 0}}})
    assert one(tmp_path, parts, filter="tests/fixed")["status"] == "passed"
    assert one(tmp_path, parts, filter="tests/kept")["status"] == "failed"


def test_an_edited_score_is_a_restated_run(tmp_path: Path) -> None:
    edited = sample(scores={"verdict": {"value": "C", "history": [{"value": "I"}, {"value": "C", "provenance": {}}]}})
    same = sample("b", scores={"verdict": {"value": "C", "history": [{"value": "C"}, {"value": "UNCHANGED"}]}})
    _, notes = read(write_eval(tmp_path / "x.eval", [edited, same], header("ab")))
    assert kinds(notes) == {"restated_run": 1}
    assert notes.findings[0].items == ("a",)


def test_a_killed_run_is_read_from_its_journal(tmp_path: Path) -> None:
    members = members_of([sample("a"), sample("b", value="I")], header("abcd"))
    del members["header.json"]
    summary = {"id": "c", "epoch": 1, "scores": {"verdict": {"value": "C"}}, "retries": 1, "error": None, "uuid": "u-c"}
    died = {"id": "d", "epoch": 1, "scores": {}, "error": "boom", "limit": None}
    members["_journal/summaries/10.json"] = json.dumps([died]).encode()
    members["_journal/summaries/2.json"] = json.dumps([{**summary, "id": "a"}, summary]).encode()
    (tmp_path / "x.eval").write_bytes(zipped(list(members.items())))
    reading, notes = read(tmp_path / "x.eval")
    assert reading.rows["item_id"].to_pylist() == ["a", "b", "c", "d"]
    assert reading.rows["status"].to_pylist() == ["passed", "failed", "passed", "aborted"]
    assert reading.rows["attempts"].to_pylist() == [1, 1, 2, None]
    assert kinds(notes) == {"unfinished_run": 1}
    assert notes.findings[0].found == "status started; 4 of 4 samples"


def test_a_chunked_sample_is_read_as_a_whole_one(tmp_path: Path) -> None:
    events = [call(retries=1), call(), call(retries=4)]
    whole, _ = read(write_eval(tmp_path / "whole.eval", [sample("x/y", events=events)], header(["x/y"])))
    shell = sample("x/y", events=None, metadata=None)
    members = members_of([], header(["x/y"]))
    at = "samples/x/y_epoch_1"
    members |= {
        f"{at}/sample.json": json.dumps(shell).encode(),
        f"{at}/metadata.json": b'{"stratum": "parser"}',
        f"{at}/skeleton.json": b"[]",
        f"{at}/events/2.json": json.dumps(events[2:]).encode(),
        f"{at}/events/0.json": json.dumps(events[:2]).encode(),
        f"{at}/events/stats.json": b"{}",
        f"{at}/messages/0.json": b"[]",
        "samples/torn_epoch_1/events/0.json": b"[]",
    }
    (tmp_path / "x.eval").write_bytes(zipped(list(members.items())))
    reading, notes = read(tmp_path / "x.eval")
    assert reading.rows.equals(whole.rows)
    assert reading.rows["retries"].to_pylist() == [5]
    assert kinds(notes) == {"torn_line": 1}


def test_totals_are_set_against_the_samples(tmp_path: Path) -> None:
    metrics = {"accuracy": {"name": "accuracy", "value": 1.0}}
    results = {
        "total_samples": 4,
        "completed_samples": 3,
        "scores": [{"name": "verdict", "scorer": "verdict", "metrics": metrics}],
    }
    samples = [sample("a"), sample("b"), sample("c", scores={}, error={"message": "boom"})]
    _, notes = read(write_eval(tmp_path / "x.eval", samples, header("abcd", results=results)))
    assert [(f.kind, f.found) for f in notes.findings] == [
        ("unfinished_run", "status success; 3 of 4 samples"),
        ("total_disagrees", "total_samples is 4, its samples give 3"),
        ("total_disagrees", "completed_samples is 3, its samples give 2"),
        ("total_disagrees", "accuracy is 1, its samples give 0.666667"),
    ]


def test_a_sample_twice_in_one_log_is_two_rows(tmp_path: Path) -> None:
    twice = [
        *members_of([sample("a")]).items(),
        ("samples/a_epoch_1.json", json.dumps(sample("a", value="I")).encode()),
    ]
    (tmp_path / "x.eval").write_bytes(zipped(twice))
    assert read(tmp_path / "x.eval")[0].rows["status"].to_pylist() == ["passed", "failed"]


def test_a_folder_is_read_by_name_and_a_copied_file_once(tmp_path: Path) -> None:
    (tmp_path / "later").mkdir()
    write_eval(tmp_path / "b.eval", [sample("b")], header("b"))
    write_json(tmp_path / "a.json", [sample("a")], header("a"))
    (tmp_path / "later" / "b.eval").write_bytes((tmp_path / "b.eval").read_bytes())
    (tmp_path / "logs.json").write_text("{}")
    reading, notes = read(tmp_path)
    assert reading.rows["item_id"].to_pylist() == ["a", "b"]
    assert reading.rows["line"].to_pylist() == [1, 2]
    assert reading.planned is not None
    assert sorted(reading.planned.items) == ["a", "b"]
    assert kinds(notes) == {"nested_copies": 1}
    assert FORMAT.sniff(tmp_path)
    assert FORMAT.sniff(tmp_path / "a.json")
    assert not FORMAT.sniff(tmp_path / "logs.json")


def test_several_tasks_keep_their_samples_apart(tmp_path: Path) -> None:
    write_eval(tmp_path / "a.eval", [sample(1, metadata={})], header([1], spec={"task": "one"}))
    write_eval(tmp_path / "b.eval", [sample(1, metadata={})], header([1, 2], spec={"task": "two"}))
    reading, _ = read(tmp_path)
    assert reading.rows["item_id"].to_pylist() == ["one/1", "two/1"]
    assert reading.rows["stratum"].to_pylist() == ["one", "two"]
    assert reading.planned is not None
    assert dict(reading.planned.items) == {"one/1": ("one", False), "two/1": ("two", False), "two/2": ("two", False)}


def test_strata_are_the_field_that_was_asked_for(tmp_path: Path) -> None:
    given = sample(metadata={"stratum": "x", "level": 3})
    assert one(tmp_path, given)["stratum"] == "x"
    assert one(tmp_path, given, strata="level")["stratum"] == "3"
    with pytest.raises(InputError, match="no sample has 'kind'"):
        one(tmp_path, given, strata="kind")


def test_facts_name_the_arm_and_hold_no_key_and_no_prompt(tmp_path: Path) -> None:
    spec = {
        "model_args": {"api_key": KEY, "tensor_parallel": 4, "note": f"Bearer {KEY}", "max_tokens": 9},
        "model_base_url": f"https://me:{KEY}@host.example:8443/v1?key={KEY}",
        "revision": {"type": "git", "origin": f"https://me:{KEY}@git.example/x", "commit": "abc123", "dirty": True},
        "metadata": {"created_by": "me@lab.example"},
        "config": {"epochs": 1, "message_limit": 6, "time_limit": 60, "retry_on_error": 2},
    }
    tools = {
        "solver": "use_tools",
        "params": {"tools": [{"type": "tool", "name": "bash"}, {"type": "tool", "name": "a"}]},
    }
    plan = {"steps": [{"solver": "react", "params": {"prompt": "be good"}}, tools], "config": {"temperature": 0.5}}
    made = header(spec={**spec, "sandbox": {"type": "docker", "config": "compose.yaml"}}, plan=plan)
    reading, _ = read(write_eval(tmp_path / "x.eval", [sample(messages=[{"content": KEY}])], made))
    assert reading.facts == {
        "": {
            "name": f"react > use_tools with {MODEL}",
            "version": "commit abc123 and uncommitted changes",
            "harness": "inspect_ai 0.3.285 retry_on_error=2",
            "oracle": "task toolfix version 3, scored by verdict",
            "tools": "a, bash, sandbox docker",
            "time_budget": "time_limit=60 message_limit=6",
            "model": f"{MODEL} (max_tokens=9 temperature=0.5 tensor_parallel=4)",
            "temperature": "0.5",
            "run": "e1",
        }
    }
    everything = repr(reading.facts) + repr(reading.rows.to_pylist())
    assert "sk-live" not in everything
    assert "be good" not in everything
    assert "lab.example" not in everything
    assert reading.rows["served_by"].to_pylist() == ["lab at host.example:8443"]


def test_an_item_is_the_same_whatever_ids_its_messages_have(tmp_path: Path) -> None:
    def digest(**over: Any) -> Any:
        return one(tmp_path, sample(**over))["item_digest"]

    said = {"role": "user", "content": "do it"}
    assert digest(input=[{"id": "x1", **said}]) == digest(input=[{"id": "x2", **said}])
    assert digest(input=[said]) != digest(input=[{**said, "content": "do that"}])
    assert digest(target="other") != digest() == digest(epoch=2)
