from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.ingest.aider import FILE, FORMAT, sniff
from tests.ingest.foreign import SECRET, holds_no, kinds, read, refused, survives, variants


def exercise(run: Path, item: str, outcomes: list[bool] | None, **other: Any) -> Path:
    """Write one exercise's folder as the polyglot benchmark lays it out; `outcomes` None leaves it unfinished."""
    language, _, called = item.partition("/")
    folder = run / language / "exercises/practice" / called
    folder.mkdir(parents=True)
    (folder / f"{called}.py").write_text("pass\n")
    if outcomes is not None:
        result = {
            "testdir": f"bench/{folder.name}",
            "testcase": called,
            "model": "acme/large-1",
            "edit_format": "diff",
            "tests_outcomes": outcomes,
            "cost": 0.125,
            "duration": 12.5,
            "test_timeouts": 0,
            "commit_hash": "abc1234",
            "num_error_outputs": 0,
            "num_exhausted_context_windows": 0,
            "prompt_tokens": 900,
            "completion_tokens": 80,
            "chat_hashes": [["a", "b"]],
        }
        (folder / FILE).write_text(json.dumps(result | other))
    return folder


def test_the_last_try_decides_and_tries_are_no_repeats(tmp_path: Path) -> None:
    exercise(tmp_path / "run", "go/bowling", [True])
    exercise(tmp_path / "run", "python/bowling", [False, True])
    exercise(tmp_path / "run", "python/zipper", [False, False])
    rows, reading, notes = read(FORMAT, tmp_path / "run")
    assert [(r["item_id"], r["stratum"], r["status"], r["attempts"], r["repeat"]) for r in rows] == [
        ("go/bowling", "go", "passed", 1, 0),
        ("python/bowling", "python", "passed", 2, 0),
        ("python/zipper", "python", "failed", 2, 0),
    ]
    assert (rows[0]["wall_s"], rows[0]["cost_usd"], rows[0]["input_tokens"], rows[0]["output_tokens"]) == (
        12.5,
        0.125,
        900,
        80,
    )
    assert (rows[0]["evidence"], rows[0]["started_at"], rows[0]["requested_model"]) == (None, None, "acme/large-1")
    assert [(f.kind, f.count, f.items) for f in notes.findings] == [
        ("tries_collapsed", 2, ("python/bowling", "python/zipper"))
    ]
    facts = reading.facts[""]
    assert (facts["version"], facts["tools"], facts["model"]) == ("abc1234", "edit format diff", "acme/large-1")


def test_timeouts_of_tests_and_error_outputs_are_named_and_decide_nothing(tmp_path: Path) -> None:
    exercise(tmp_path / "r", "go/a", [False, False], test_timeouts=1, num_error_outputs=3)
    exercise(tmp_path / "r", "go/b", [True], num_exhausted_context_windows=1)
    exercise(tmp_path / "r", "go/c", [], num_error_outputs=1)
    rows, _, notes = read(FORMAT, tmp_path / "r")
    assert [(r["status"], r["reason"]) for r in rows] == [
        ("failed", "tests ran out of time in 1 of 2 tries; 3 error outputs"),
        ("passed", "1 full contexts"),
        (None, "no try was tested; 1 error outputs"),
    ]
    assert kinds(notes) == ["not_scored", "tries_collapsed"]


def test_an_exception_is_aborted_or_lost_where_declared(tmp_path: Path) -> None:
    folder = exercise(tmp_path / "r", "go/a", [True])
    text = f'Traceback (most recent call last):\n  File "x.py", line 1\nRateLimitError: key {SECRET} is spent\n'
    (folder / FILE).write_text(json.dumps({"exception": text}))
    rows, reading, notes = read(FORMAT, tmp_path / "r")
    assert (rows[0]["status"], rows[0]["reason"]) == ("aborted", "RateLimitError: key [cut] is spent")
    holds_no(reading, notes, SECRET, "x.py")
    assert read(FORMAT, tmp_path / "r", infra_errors=["RateLimitError"])[0][0]["status"] == "lost"


def test_an_unfinished_exercise_has_no_outcome(tmp_path: Path) -> None:
    exercise(tmp_path / "r", "go/a", [True])
    exercise(tmp_path / "r", "go/b", None)
    rows, _, notes = read(FORMAT, tmp_path / "r")
    assert [(r["item_id"], r["status"], r["stratum"]) for r in rows] == [("go/a", "passed", "go"), ("go/b", None, "go")]
    assert [(f.kind, f.items) for f in notes.findings] == [("not_scored", ("go/b",)), ("unfinished_run", ("go/b",))]


def test_runs_are_repeats_and_copies_are_none(tmp_path: Path) -> None:
    exercise(tmp_path / "runs/one", "go/a", [True])
    exercise(tmp_path / "runs/two", "go/a", [False], duration=9.0)
    shutil.copytree(tmp_path / "runs/one", tmp_path / "runs/three")
    rows, _, notes = read(FORMAT, tmp_path / "runs")
    assert [(r["repeat"], r["status"]) for r in rows] == [(0, "passed"), (1, "failed")]
    assert kinds(notes) == ["nested_copies"]
    both, _, _ = read(FORMAT, [tmp_path / "runs/one", tmp_path / "runs/two"])
    assert [(r["source"], r["repeat"]) for r in both] == [(0, 0), (1, 1)]


def test_the_older_layout_and_a_single_file_are_read(tmp_path: Path) -> None:
    for called in ("a", "b"):
        (tmp_path / "run" / called).mkdir(parents=True)
        (tmp_path / "run" / called / FILE).write_text(json.dumps({"tests_outcomes": [True], "testcase": called}))
    rows, _, _ = read(FORMAT, tmp_path / "run")
    assert [(r["item_id"], r["stratum"], r["wall_s"]) for r in rows] == [("a", None, None), ("b", None, None)]
    assert [r["item_id"] for r in read(FORMAT, tmp_path / "run/b" / FILE)[0]] == ["b"]
    assert [r["stratum"] for r in read(FORMAT, tmp_path / "run", strata="testcase")[0]] == ["a", "b"]
    assert all(map(sniff, (tmp_path, tmp_path / "run/b" / FILE)))
    assert not any(map(sniff, (tmp_path / "none", tmp_path / "run/a/none")))


BAD = {
    "empty": "",
    "cut": '{"tests_outcomes": [tr',
    "list": "[]",
    "foreign": '{"hello": 1}',
    "twice": '{"tests_outcomes": [true], "tests_outcomes": [false]}',
    "bom": '\ufeff{"tests_outcomes": [true]}',
    "text": '{"tests_outcomes": "pass"}',
    "ones": '{"tests_outcomes": [1, 0]}',
    "null": '{"tests_outcomes": null}',
    "mapping": '{"tests_outcomes": {"a": true}}',
    "other": '{"tests_outcomes": [true], "testcase": "zipper"}',
    "exception": '{"exception": {"a": 1}}',
    "duration": '{"tests_outcomes": [true], "duration": "12"}',
    "cost": '{"tests_outcomes": [true], "cost": []}',
    "timeouts": '{"tests_outcomes": [true], "test_timeouts": -1}',
    "tokens": '{"tests_outcomes": [true], "prompt_tokens": 1.5}',
    "model": '{"tests_outcomes": [true], "model": {"name": "x"}}',
    "deep": '{"tests_outcomes": ' + "[" * 100_000,
    "huge": '{"tests_outcomes": [true], "duration": ' + "9" * 5000 + "}",
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_a_malformed_log_is_refused_in_a_line(tmp_path: Path, case: str) -> None:
    folder = exercise(tmp_path, "go/bowling", [True])
    (folder / FILE).write_text(BAD[case])
    refused(FORMAT, tmp_path)
    refused(FORMAT, folder / FILE)


def test_what_isn_t_a_log_is_refused(tmp_path: Path) -> None:
    refused(FORMAT, tmp_path / "none")
    refused(FORMAT, tmp_path)
    folder = exercise(tmp_path, "go/a", None)
    os.symlink("/etc/passwd", folder / FILE)
    assert "link" in refused(FORMAT, tmp_path)
    (folder / FILE).unlink()
    (folder / FILE).mkdir()
    refused(FORMAT, tmp_path)
    (folder / FILE).rmdir()
    (folder / FILE).write_bytes(b'{"tests_outcomes": [true], "model": "\xe9"}')
    refused(FORMAT, tmp_path)


def test_wrong_types_anywhere_give_a_reading_or_a_refusal(tmp_path: Path) -> None:
    path = exercise(tmp_path, "go/a", [False, True]) / FILE
    for odd in variants(json.loads(path.read_text())):
        path.write_text(json.dumps(odd))
        survives(FORMAT, tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 400), byte=st.integers(0, 255), cut=st.booleans())
def test_damage_gives_a_reading_or_a_refusal(tmp_path: Path, at: int, byte: int, cut: bool) -> None:
    path = tmp_path / "go/exercises/practice/a" / FILE
    if not path.exists():
        exercise(tmp_path, "go/a", [False, True])
        (tmp_path / "whole").write_bytes(path.read_bytes())
    data = (tmp_path / "whole").read_bytes()
    at %= len(data)
    path.write_bytes(data[:at] if cut else data[:at] + bytes([byte]) + data[at + 1 :])
    survives(FORMAT, tmp_path)
