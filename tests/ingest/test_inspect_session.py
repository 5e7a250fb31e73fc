"""What an Inspect log has of its session: waits, retries, served models, fallbacks, cached answers, times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stages.ingest.inspect_log import FORMAT
from stages.ingest.model import Notes, Options
from tests.support.inspect_logs import MODEL, call, sample, write_eval


def one(tmp_path: Path, given: dict[str, Any]) -> dict[str, Any]:
    """The row of a log with one sample."""
    (row,) = FORMAT.read([write_eval(tmp_path / "one.eval", [given])], Options(), Notes()).rows.to_pylist()
    return row


def test_the_session_is_what_the_log_has_of_it(tmp_path: Path) -> None:
    events = [call(retries=2), call(), call("lab/grader", "grader-9", role="grader", cache="read")]
    row = one(tmp_path, sample(events=events, error_retries=[{"message": "boom", "traceback": ""}]))
    known = {key: row[key] for key in ("queue_ms", "retries", "attempts", "route_changed", "served_model", "served_by")}
    assert known == {
        "queue_ms": 500.0,  # 3.5 s in all, 3.0 s at work
        "retries": 3,  # one sample that died, two repeated calls
        "attempts": 2,
        "route_changed": False,
        "served_model": "model-1-2026-01-01",
        "served_by": "lab",
    }
    assert (row["requested_model"], row["evidence"], row["cached"]) == (MODEL, "exported", False)
    assert (row["input_tokens"], row["output_tokens"], row["wall_s"]) == (7, 5, 3.5)
    assert (row["server_id"], row["quota_state"], row["cost_usd"]) == (None, None, None)


def test_a_sample_that_died_before_its_first_call_changed_no_route(tmp_path: Path) -> None:
    empty = {"model": MODEL, "choices": []}
    died = sample(scores={}, error={"message": "boom"}, output=empty, events=[{"event": "sample_init"}])
    row = one(tmp_path, died)
    assert (row["route_changed"], row["served_model"], row["retries"]) == (False, None, 0)


def test_a_log_without_a_word_of_the_session_is_no_evidence(tmp_path: Path) -> None:
    none = dict.fromkeys(("output", "total_time", "working_time", "error_retries", "events", "started_at"))
    row = one(tmp_path, sample(**none))
    assert [row[k] for k in ("evidence", "queue_ms", "retries", "attempts", "route_changed", "started_at")] == [
        None
    ] * 6


@pytest.mark.parametrize(
    ("over", "what"),
    [
        (
            {"model_fallbacks": [{"model": "m1", "fallback_model": "m0", "count": 3}]},
            "m1 fell back to m0, 3×",
        ),
        (
            {"output": {"model": "m0", "choices": [{}], "fallback": {"model": "m1", "fallback_model": "m0"}}},
            "m1 fell back to m0, 1×",
        ),
        ({"events": [call(served="one"), call(served="two")]}, f"{MODEL}: one, two"),
    ],
)
def test_a_fallback_or_a_second_server_changes_the_route(tmp_path: Path, over: dict[str, Any], what: str) -> None:
    row = one(tmp_path, sample(**over))
    assert (row["route_changed"], row["route_what"]) == (True, what)


@pytest.mark.parametrize(("caches", "cached"), [(["read", "read"], True), (["read", "write"], False), ([None], False)])
def test_a_sample_that_was_answered_from_a_cache_says_so(tmp_path: Path, caches: list[Any], cached: bool) -> None:
    assert one(tmp_path, sample(events=[call(cache=c) for c in caches]))["cached"] is cached


@pytest.mark.parametrize(
    ("over", "started"),
    [
        ({}, "2026-01-31T12:00:00.000Z"),
        ({"started_at": "2026-01-31T13:00:00"}, None),
        (
            {"started_at": None, "events": [{"event": "info", "timestamp": "2026-01-31T07:00:00.25-05:00"}]},
            "2026-01-31T12:00:00.250Z",
        ),
        (
            {"started_at": None, "events": None, "transcript": {"events": [{"timestamp": "2026-01-31T12:00:00Z"}]}},
            "2026-01-31T12:00:00.000Z",
        ),
    ],
)
def test_times_are_in_utc_or_unknown(tmp_path: Path, over: dict[str, Any], started: str | None) -> None:
    assert one(tmp_path, sample(**over))["started_at"] == started


@pytest.mark.parametrize(("working", "queue"), [(3.5, 0.0), (3.501, 0.0), (3.6, None), (None, None)])
def test_work_that_took_longer_than_the_whole_is_no_wait(tmp_path: Path, working: Any, queue: float | None) -> None:
    assert one(tmp_path, sample(working_time=working))["queue_ms"] == queue
