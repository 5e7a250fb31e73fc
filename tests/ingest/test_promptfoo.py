from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.ingest.promptfoo import FORMAT, sniff
from tests.ingest.foreign import SECRET, holds_no, kinds, read, real, refused, survives, variants


def row(index: int, arm: str = "old", success: bool | None = True, **other: Any) -> dict[str, Any]:
    item = index // 2  # each test twice
    return {
        "provider": {"id": f"acme:{arm}", "label": arm, "config": {"apiKey": SECRET, "temperature": 0.5}},
        "prompt": {"raw": "Say where item is", "label": "Say where"},
        "vars": {"n": item},
        "response": {"output": "left", "cached": False, "tokenUsage": {"prompt": 3, "completion": 4}},
        "success": success,
        "failureReason": 0 if success else 1,
        "score": 1 if success else 0,
        "latencyMs": 250,
        "cost": 0.25,
        "promptIdx": 0 if arm == "old" else 1,
        "testIdx": index,
        "testCase": {
            "vars": {"n": item},
            "description": f"item-{item}",
            "metadata": {"stratum": "xy"[item % 2]},
            "assert": [{"type": "contains", "value": item}],
        },
        "gradingResult": {"pass": bool(success)},
    } | other


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def whole(path: Path, rows: list[dict[str, Any]], stats: dict[str, Any] | None = None, **other: Any) -> Path:
    results = {"version": 3, "timestamp": "2026-01-01T00:00:00Z", "results": rows, "stats": stats or {}} | other
    top = {
        "evalId": "eval-1",
        "results": results,
        "config": {"env": {"KEY": SECRET}, "evaluateOptions": {"timeoutMs": 30000}},
        "metadata": {"promptfooVersion": "0.120.0", "author": "someone@example.org"},
    }
    path.write_text(json.dumps(top))
    return path


def test_providers_are_arms_and_rows_of_one_test_are_repeats(tmp_path: Path) -> None:
    rows, reading, notes = read(
        FORMAT, lines(tmp_path / "r.jsonl", [row(i, a) for i in range(4) for a in ("old", "new")])
    )
    assert [(r["item_id"], r["arm"], r["repeat"]) for r in rows] == [
        (f"item-{i}", arm, k) for i in range(2) for k in range(2) for arm in ("old", "new")
    ]
    first = rows[0]
    assert (first["status"], first["stratum"], first["wall_s"], first["cost_usd"]) == ("passed", "x", 0.25, 0.25)
    assert (first["input_tokens"], first["output_tokens"], first["requested_model"]) == (3, 4, "acme:old")
    assert (first["evidence"], first["started_at"]) == (None, None)
    assert reading.facts["new"]["temperature"] == "0.5"
    assert not notes.findings
    holds_no(reading, notes, SECRET, "Say where", "left")


def test_a_cached_answer_is_marked(tmp_path: Path) -> None:
    answers = [row(0), row(1, response={"cached": True})]
    assert [r["cached"] for r in read(FORMAT, lines(tmp_path / "r.jsonl", answers))[0]] == [False, True]


def test_errors_timeouts_and_what_was_cut_off(tmp_path: Path) -> None:
    def died(index: int, said: str | None, **other: Any) -> dict[str, Any]:
        return row(index, success=False, failureReason=2, error=said, gradingResult=None, **other)

    given_ = [
        died(0, f'API error: 429 {{"key": "{SECRET}"}}\nstack'),
        died(2, "Evaluation timed out after 30000ms"),
        died(4, "Evaluation exceeded max duration of 60000ms"),
        died(6, "sandbox gone"),
        died(8, None),
        row(10, success=False, error="Expected output to contain 5"),
        row(12, success=None, failureReason=0),
        row(14, success=False, failureReason=None, error="no route", gradingResult=None),
    ]
    rows, reading, notes = read(FORMAT, lines(tmp_path / "r.jsonl", given_), infra_errors=["sandbox gone"])
    assert [r["status"] for r in rows] == ["aborted", "timeout", None, "lost", "aborted", "failed", None, "aborted"]
    assert [(f.kind, f.items) for f in notes.findings if f.kind == "not_scored"] == [
        ("not_scored", ("item-2", "item-6"))
    ]
    assert str(rows[0]["reason"]).startswith("API error: 429")
    holds_no(reading, notes, SECRET, "stack", "Expected output")


def test_an_interrupted_run_is_noted(tmp_path: Path) -> None:
    rows = [row(i, "old") for i in range(4)] + [row(i, "new") for i in range(3)]
    (found,) = read(FORMAT, lines(tmp_path / "r.jsonl", rows))[2].findings
    assert (found.kind, found.count, found.items) == ("unfinished_run", 1, ("item-1",))


def test_a_row_written_twice_keeps_its_number(tmp_path: Path) -> None:
    rows, _, _ = read(FORMAT, lines(tmp_path / "r.jsonl", [row(0), row(1), row(0, success=False)]))
    assert [(r["repeat"], r["status"]) for r in rows] == [(0, "passed"), (1, "passed"), (0, "failed")]


def test_tests_that_share_a_name_are_told_apart(tmp_path: Path) -> None:
    def case(n: int) -> dict[str, Any]:
        return {"vars": {"n": n}, "description": "same"}

    rows = [row(i, testCase=case(n)) for i, n in enumerate((1, 1, 2))]
    ids = [r["item_id"] for r in read(FORMAT, lines(tmp_path / "r.jsonl", rows))[0]]
    assert ids[0] == ids[1] != ids[2]
    assert all(one.startswith("same#") for one in ids)
    bare = [row(i, testCase={"vars": {"n": i}}) for i in range(2)]
    rows, _, _ = read(FORMAT, lines(tmp_path / "r.jsonl", bare))
    assert [r["item_id"] for r in rows] == [f"test-{r['item_digest'][:12]}" for r in rows]
    named, _, _ = read(FORMAT, tmp_path / "r.jsonl", columns={"item_id": "vars.n"})
    assert [r["item_id"] for r in named] == ["0", "0"]


def test_a_provider_with_several_prompts_is_several_arms(tmp_path: Path) -> None:
    rows, reading, _ = read(FORMAT, lines(tmp_path / "r.jsonl", [row(0, promptIdx=0), row(0, promptIdx=1)]))
    assert [r["arm"] for r in rows] == ["old#0", "old#1"]
    assert reading.facts.keys() == {"old#0", "old#1"}


def test_providers_that_only_a_secret_tells_apart_are_refused(tmp_path: Path) -> None:
    rows = [row(0, provider={"id": f"https://u:{word}@host/v1"}) for word in ("one", "two")]
    said = refused(FORMAT, lines(tmp_path / "r.jsonl", rows))
    assert "two providers" in said
    assert ":two@" not in said


def test_totals_are_set_against_the_rows(tmp_path: Path) -> None:
    rows = [row(0), row(1, success=False), row(2, success=False, failureReason=2, error="boom")]
    stats = {"successes": 1, "failures": 1, "errors": 1}
    metrics = [{"provider": "old", "metrics": {"testPassCount": 1, "testFailCount": 1, "testErrorCount": 1}}]
    _, reading, notes = read(FORMAT, whole(tmp_path / "r.json", rows, stats, prompts=metrics))
    assert not notes.findings
    assert (reading.facts["old"]["harness"], reading.facts["old"]["time_budget"]) == ("promptfoo 0.120.0", "30 s")
    holds_no(reading, notes, SECRET, "example.org")
    whole(tmp_path / "r.json", rows, stats | {"successes": 2}, prompts=[{"metrics": {"testPassCount": 3}}])
    assert [f.found for f in read(FORMAT, tmp_path / "r.json")[2].findings] == [
        "successes is 2, the rows give 1",
        "prompt 0: testPassCount is 3, the rows give 1",
    ]


def test_a_torn_end_is_noted_and_the_same_file_read_once(tmp_path: Path) -> None:
    path = lines(tmp_path / "r.jsonl", [row(0), row(1), row(2)])
    path.write_bytes(path.read_bytes()[:-30])
    (tmp_path / "s.jsonl").write_bytes(path.read_bytes())
    rows, _, notes = read(FORMAT, [path, tmp_path / "s.jsonl"])
    assert (len(rows), kinds(notes)) == (2, ["torn_line", "nested_copies"])


def test_it_knows_its_own(tmp_path: Path) -> None:
    assert sniff(lines(tmp_path / "r.jsonl", [row(0)]))
    assert sniff(whole(tmp_path / "r.json", [row(0)]))
    (tmp_path / "x.json").write_text('{"results": []}')
    assert not any(map(sniff, (tmp_path / "x.json", tmp_path, tmp_path / "none.json")))


GOOD = json.dumps(row(0)).encode() + b"\n"
BAD = {
    "empty": b"",
    "blank": b"\n\n",
    "middle": GOOD + b"{oops}\n" + GOOD,
    "only": b'{"provider":',
    "list": b"[]\n",
    "twice": b'{"provider": "a", "provider": "b"}\n',
    "bom": b"\xef\xbb\xbf" + GOOD,
    "latin": GOOD + b'{"a": "\xe9"}\n',
    "deep": b"[" * 100_000 + b"\n",
    "huge": GOOD.replace(b'"latencyMs": 250', b'"latencyMs": ' + b"9" * 5000),
    "success": GOOD.replace(b'"success": true', b'"success": "true"'),
    "one": GOOD.replace(b'"success": true', b'"success": 1'),
    "reason": GOOD.replace(b'"failureReason": 0', b'"failureReason": 7'),
    "both": GOOD.replace(b'"failureReason": 0', b'"failureReason": 2'),
    "provider": GOOD.replace(b'"provider": {', b'"provider": 3, "was": {'),
    "nameless": GOOD.replace(b'"acme:old"', b"null").replace(b'"label": "old"', b'"label": null'),
    "case": GOOD.replace(b'"testCase": {', b'"testCase": [], "was": {'),
    "description": GOOD.replace(b'"item-0"', b'"a\\u0000b"'),
    "surrogate": GOOD.replace(b'"item-0"', b'"\\ud800"'),
    "index": GOOD.replace(b'"testIdx": 0', b'"testIdx": -1'),
    "cached": GOOD.replace(b'"cached": false', b'"cached": "no"'),
    "response": GOOD.replace(b'"response": {', b'"response": "x", "was": {'),
    "latency": GOOD.replace(b'"latencyMs": 250', b'"latencyMs": "250"'),
    "tokens": GOOD.replace(b'"prompt": 3', b'"prompt": 3.5'),
    "stratum": GOOD.replace(b'"stratum": "x"', b'"stratum": ["x"]'),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_a_malformed_log_is_refused_in_a_line(tmp_path: Path, case: str) -> None:
    (tmp_path / "r.jsonl").write_bytes(BAD[case])
    refused(FORMAT, tmp_path / "r.jsonl")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"results": 3}',
        '{"results": {"results": {}}}',
        '{"results": {"results": [1]}}',
        '{"results": []}',
    ],
)
def test_malformed_json_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    refused(FORMAT, tmp_path / "r.json")
    refused(FORMAT, tmp_path)
    refused(FORMAT, tmp_path / "none.json")


def test_wrong_types_anywhere_give_a_reading_or_a_refusal(tmp_path: Path) -> None:
    for odd in variants(row(0, error="boom")):
        lines(tmp_path / "r.jsonl", [odd])
        survives(FORMAT, tmp_path / "r.jsonl")
    prompts = [{"metrics": {"testPassCount": 1}}]
    good = json.loads(whole(tmp_path / "r.json", [{"provider": "a"}], {"successes": 1}, prompts=prompts).read_text())
    for odd in variants(good):
        (tmp_path / "r.json").write_text(json.dumps(odd))
        survives(FORMAT, tmp_path / "r.json")


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 3000), byte=st.integers(0, 255), cut=st.booleans(), as_lines=st.booleans())
def test_damage_gives_a_reading_or_a_refusal(tmp_path: Path, at: int, byte: int, cut: bool, as_lines: bool) -> None:
    path = tmp_path / ("r.jsonl" if as_lines else "r.json")
    rows = [row(0), row(1, success=False, failureReason=2, error="timed out")]
    data = (lines(path, rows) if as_lines else whole(path, rows, {"successes": 1})).read_bytes()
    at %= len(data)
    path.write_bytes(data[:at] if cut else data[:at] + bytes([byte]) + data[at + 1 :])
    survives(FORMAT, path)


def test_a_real_interrupted_run_reads_as_its_rows_say() -> None:
    # wc -l: 28; jq over label, success, response.cached: arm-a 16 rows, 12 successes; arm-b 12 rows, 8 successes;
    # cached are the 4 rows of item-5; testIdx goes to 15, so 4 of 32 cells aren't there, of item-7 and item-8
    path = real("promptfoo_made") / "out.interrupted.jsonl"
    rows, _, notes = read(FORMAT, path)
    assert Counter((r["arm"], r["status"]) for r in rows) == {
        ("arm-a", "passed"): 12,
        ("arm-a", "failed"): 4,
        ("arm-b", "passed"): 8,
        ("arm-b", "failed"): 4,
    }
    assert [r["item_id"] for r in rows if r["cached"]] == ["item-5"] * 4
    assert {r["stratum"] for r in rows} == {"x", "y"}
    (found,) = notes.findings
    assert (found.kind, found.count, found.items) == ("unfinished_run", 4, ("item-7", "item-8"))
