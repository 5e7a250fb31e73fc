from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.ingest.terminal_bench import FORMAT, sniff
from tests.ingest.foreign import SECRET, holds_no, kinds, read, refused, survives, variants


def row(item: str, resolved: bool | None, mode: str = "unset", attempt: int = 1, **other: Any) -> dict[str, Any]:
    return {
        "id": f"id-{item}-{attempt}",
        "trial_name": f"{item}.{attempt}-of-2.run7",
        "task_id": item,
        "instruction": f"Solve {item}.",
        "is_resolved": resolved,
        "failure_mode": mode,
        "parser_results": None,
        "total_input_tokens": 10,
        "total_output_tokens": 5,
        "trial_started_at": "2026-01-31T13:00:00+01:00",
        "trial_ended_at": "2026-01-31T13:05:00+01:00",
        "agent_started_at": "2026-01-31T13:01:00+01:00",
        "agent_ended_at": "2026-01-31T13:02:30+01:00",
    } | other


def run(folder: Path, rows: list[dict[str, Any]], meta: dict[str, Any] | None = None, **claims: Any) -> Path:
    """Write a run as the harness does: its list, its metadata, and a file for each trial."""
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(json.dumps({"id": "run-id", "results": rows, **claims}))
    said = {
        "run_id": folder.name,
        "agent_name": "terminus",
        "model_name": "acme/large-1",
        "agent_kwargs": {"api_key": SECRET, "temperature": 0.7},
        "dataset_name": "core",
        "dataset_version": "0.1.1",
        "end_time": "2026-01-31T14:00:00+00:00",
    }
    (folder / "run_metadata.json").write_text(json.dumps(said | (meta or {})))
    for one in rows:
        own = folder / one["task_id"] / one["trial_name"]
        own.mkdir(parents=True, exist_ok=True)
        (own / "results.json").write_text(json.dumps(one))
    return folder


def test_a_run_is_read_once_though_each_trial_has_a_file_of_its_own(tmp_path: Path) -> None:
    folder = run(tmp_path / "run7", [row("a", True), row("a", False, attempt=2), row("b", False)])
    rows, reading, notes = read(FORMAT, folder)
    assert [(r["item_id"], r["repeat"], r["status"]) for r in rows] == [
        ("a", 0, "passed"),
        ("a", 1, "failed"),
        ("b", 0, "failed"),
    ]
    assert (rows[0]["wall_s"], rows[0]["started_at"]) == (90.0, "2026-01-31T12:00:00.000Z")
    assert (rows[0]["input_tokens"], rows[0]["output_tokens"], rows[0]["evidence"]) == (10, 5, None)
    facts = reading.facts["terminus/acme/large-1"]
    assert (facts["oracle"], facts["temperature"], facts["run"]) == (
        "tests of core 0.1.1",
        "0.7",
        "run7 terminus/acme/large-1",
    )
    assert not notes.findings
    holds_no(reading, notes, SECRET, "Solve")


def test_failure_modes_become_what_the_docstring_says(tmp_path: Path) -> None:
    given_ = {
        "a": (True, "none", "passed", False),
        "b": (None, "unset", None, False),
        "c": (True, "agent_timeout", "timeout", True),
        "d": (False, "agent_timeout", "timeout", False),
        "e": (False, "test_timeout", "failed", False),
        "f": (None, "test_timeout", "broken", False),
        "g": (None, "parse_error", "broken", False),
        "h": (False, "unknown_agent_error", "aborted", False),
        "i": (None, "agent_installation_failed", "aborted", False),
        "j": (False, "context_length_exceeded", "failed", False),
        "k": (None, "context_length_exceeded", "aborted", False),
        "l": (False, "quota_exceeded", "lost", False),
    }
    folder = run(tmp_path / "r", [row(i, resolved, mode) for i, (resolved, mode, _, _) in given_.items()])
    rows, _, notes = read(FORMAT, folder, infra_errors=["quota_exceeded"])
    assert {r["item_id"]: (r["status"], r["late_pass"]) for r in rows} == {i: v[2:] for i, v in given_.items()}
    assert [(f.kind, f.items) for f in notes.findings] == [("not_scored", ("b",))]


def test_missing_times_stay_unknown(tmp_path: Path) -> None:
    one = {k: v for k, v in row("a", True).items() if not k.endswith("_at")}
    naive = row(
        "b",
        True,
        agent_started_at="2026-01-31T13:00:00",
        agent_ended_at="2026-01-31T13:00:04",
        trial_started_at="2026-01-31T13:00:00",
    )
    rows, _, _ = read(FORMAT, run(tmp_path / "r", [one, naive, row("c", True, agent_ended_at=None)]))
    assert [(r["wall_s"], r["started_at"]) for r in rows] == [
        (None, None),
        (4.0, None),
        (None, "2026-01-31T12:00:00.000Z"),
    ]


def test_totals_are_set_against_the_rows(tmp_path: Path) -> None:
    rows = [row("a", True), row("b", None), row("c", False), row("d", True)]
    run(tmp_path / "good", rows, n_resolved=2, n_unresolved=2, accuracy=0.5, resolved_ids=["a", "d"])
    assert kinds(read(FORMAT, tmp_path / "good")[2]) == ["not_scored"]
    run(tmp_path / "bad", rows, {"accuracy": 0.9}, n_resolved=3, accuracy=2 / 3, resolved_ids=["a", "c"])
    found = [f.found for f in read(FORMAT, tmp_path / "bad")[2].findings if f.kind == "total_disagrees"]
    assert found == [
        "n_resolved is 3, the rows give 2",
        "accuracy is 0.666667, the rows give 0.5",
        "the metadata's accuracy is 0.9, the rows give 0.5",
        "2 ids are listed as resolved, the rows give 2 others",
    ]


def test_a_run_within_a_run_is_read_once_and_a_changed_one_keeps_its_trials(tmp_path: Path) -> None:
    folder = run(tmp_path / "run7", [row("a", True)])
    shutil.copytree(folder, tmp_path / "copy")
    shutil.move(tmp_path / "copy", folder / "run7")
    rows, _, notes = read(FORMAT, folder)
    assert len(rows) == 1
    assert set(kinds(notes)) == {"nested_copies"}
    inner = folder / "run7/results.json"
    inner.write_text(inner.read_text().replace('"is_resolved": true', '"is_resolved": false'))
    rows, _, _ = read(FORMAT, folder)
    assert [(r["repeat"], r["status"], r["trial"]) for r in rows] == [(0, "passed", "id-a-1"), (0, "failed", "id-a-1")]


def test_rows_that_a_resumed_run_wrote_twice_share_their_number(tmp_path: Path) -> None:
    one = {k: v for k, v in row("a", False).items() if k != "id"} | {"trial_name": "a.1-of-1"}
    rows, _, _ = read(FORMAT, run(tmp_path / "r", [one, one | {"is_resolved": True}]))
    assert [(r["repeat"], r["trial"], r["status"]) for r in rows] == [(0, None, "failed"), (0, None, "passed")]


def test_trials_that_a_killed_run_left_are_read_from_their_own_files(tmp_path: Path) -> None:
    folder = run(tmp_path / "r", [row("a", True), row("b", False)])
    (folder / "results.json").unlink()
    rows, _, notes = read(FORMAT, folder)
    assert [(r["item_id"], r["status"], r["arm"]) for r in rows] == [
        ("a", "passed", "terminus/acme/large-1"),
        ("b", "failed", "terminus/acme/large-1"),
    ]
    assert [(f.kind, f.count) for f in notes.findings] == [("unfinished_run", 2)]


def test_trials_that_are_planned_or_outside_the_list_are_named(tmp_path: Path) -> None:
    folder = run(tmp_path / "r", [row("a", True)], {"task_ids": ["a", "b", "c"]})
    (found,) = read(FORMAT, folder)[2].findings
    assert (found.kind, found.count, found.items) == ("unfinished_run", 2, ("b", "c"))
    run(tmp_path / "s", [row("a", True)], {"dataset_size": 3, "n_attempts": 2})
    assert [f.found for f in read(FORMAT, tmp_path / "s")[2].findings] == ["6 trials planned, 1 are there"]
    (folder / "z").mkdir()
    (folder / "z/results.json").write_text(json.dumps(row("z", True)))
    rows, _, notes = read(FORMAT, folder)
    assert [r["item_id"] for r in rows] == ["a", "z"]
    assert [f.found for f in notes.findings][1] == "1 trials that aren't in their run's list: z.1-of-2.run7"


def test_a_file_alone_and_several_runs_are_read(tmp_path: Path) -> None:
    one, two = run(tmp_path / "one", [row("a", True)]), run(tmp_path / "two", [row("a", False, id="other")])
    assert len(read(FORMAT, one / "results.json")[0]) == 1
    rows, _, _ = read(FORMAT, [one, two])
    assert [(r["source"], r["repeat"]) for r in rows] == [(0, 0), (1, 1)]


def test_it_knows_its_own(tmp_path: Path) -> None:
    folder = run(tmp_path / "runs/r", [row("a", True)])
    assert all(map(sniff, (folder, folder / "results.json", tmp_path / "runs")))
    (tmp_path / "results.json").write_text('{"results": {"task": 1}}')
    assert not any(map(sniff, (tmp_path / "results.json", tmp_path / "none")))


def _rows(text: str) -> bytes:
    return ('{"results": [' + text + "]}").encode()


BAD = {
    "empty": b"",
    "cut": b'{"results": [{"trial_name": "a"',
    "list": b"[]",
    "twice": b'{"results": [], "results": []}',
    "bom": b'\xef\xbb\xbf{"results": []}',
    "latin": b'{"results": ["\xe9"]}',
    "deep": b'{"results": ' + b"[" * 100_000,
    "huge": _rows('{"trial_name": "a", "task_id": "a", "total_input_tokens": ' + "9" * 5000 + "}"),
    "none": b'{"results": []}',
    "object": b'{"results": {"a": 1}}',
    "texts": _rows('"a"'),
    "foreign": b'{"hello": 1}',
    "noname": _rows('{"task_id": "a"}'),
    "noitem": _rows('{"trial_name": "a"}'),
    "resolved": _rows('{"trial_name": "a", "task_id": "a", "is_resolved": "yes"}'),
    "one": _rows('{"trial_name": "a", "task_id": "a", "is_resolved": 1}'),
    "mode": _rows('{"trial_name": "a", "task_id": "a", "failure_mode": ["x"]}'),
    "time": _rows('{"trial_name": "a", "task_id": "a", "agent_started_at": 5}'),
    "control": _rows('{"trial_name": "a", "task_id": "a\\u0000b"}'),
    "surrogate": _rows('{"trial_name": "a", "task_id": "\\udfff"}'),
    "tokens": _rows('{"trial_name": "a", "task_id": "a", "total_output_tokens": 1.5}'),
    "total": b'{"results": [{"trial_name": "a", "task_id": "a", "is_resolved": true}], "n_resolved": "1"}',
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_a_malformed_log_is_refused_in_a_line(tmp_path: Path, case: str) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(BAD[case])
    refused(FORMAT, path)
    refused(FORMAT, tmp_path)


def test_what_isn_t_there_is_refused(tmp_path: Path) -> None:
    refused(FORMAT, tmp_path / "none")
    refused(FORMAT, tmp_path)
    (tmp_path / "results.json").mkdir()
    refused(FORMAT, tmp_path)


def test_wrong_types_anywhere_give_a_reading_or_a_refusal(tmp_path: Path) -> None:
    folder = run(
        tmp_path / "r", [row("a", True)], {"task_ids": ["a"], "dataset_size": 1}, accuracy=1.0, resolved_ids=["a"]
    )
    for path in (folder / "results.json", folder / "run_metadata.json", folder / "a/a.1-of-2.run7/results.json"):
        data = path.read_bytes()
        for odd in variants(json.loads(data)):
            path.write_text(json.dumps(odd))
            survives(FORMAT, folder)
        path.write_bytes(data)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 2000), byte=st.integers(0, 255), cut=st.booleans())
def test_damage_gives_a_reading_or_a_refusal(tmp_path: Path, at: int, byte: int, cut: bool) -> None:
    data = json.dumps({"results": [row("a", True), row("b", None, "parse_error")], "accuracy": 0.5}).encode()
    at %= len(data)
    (tmp_path / "results.json").write_bytes(data[:at] if cut else data[:at] + bytes([byte]) + data[at + 1 :])
    survives(FORMAT, tmp_path / "results.json")
