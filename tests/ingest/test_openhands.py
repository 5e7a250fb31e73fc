"""OpenHands' output is read line by line; what ended an agent isn't hidden behind the tests' outcome."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.contract.errors import InputError, MissingInput, WeighbridgeError
from stages.ingest import swebench
from stages.ingest.openhands import FORMAT, sniff
from tests.ingest.swe_logs import DIFF, OTHER, Read, real, write

A, B, C, D, E = (f"acme__tool-{n}" for n in range(1, 6))
LIMIT = "RuntimeError: Agent reached maximum iteration in headless mode. Current iteration: 50, max iteration: 50"
SECRET = "sk-proj-abcdefghijklmnop1234"


def row(
    item: str, patch: str | None = DIFF, error: str | None = None, run: str = "x-run_1", **more: Any
) -> dict[str, Any]:
    """A line of output.jsonl, with what must never leave it."""
    llm = {"model": "acme/model-1", "api_key": SECRET, "base_url": "http://localhost:1", "temperature": 0.5}
    metadata = {
        "agent_class": "CodeActAgent",
        "llm_config": llm,
        "eval_output_dir": f"/home/someone/out/{run}/",
        "git_commit": "abc123",
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    metrics = {"accumulated_cost": 0.5, "costs": [{"cost": 0.5}], "accumulated_token_usage": usage}
    told: dict[str, Any] = {"instance_id": item, "test_result": {"git_patch": patch}, "instruction": "do it"}
    told |= {"metadata": metadata, "history": [{"message": SECRET}], "metrics": metrics, "error": error}
    return told | {"instance": {"repo": "acme/tool", "level": "hard"}} | more


def evaluation(item: str, **report: bool) -> dict[str, Any]:
    """A line of output.swebench_eval.jsonl."""
    names = ("empty_generation", "resolved", "failed_apply_patch", "error_eval", "test_timeout")
    said = {name: report.get(name, False) for name in names}
    return {
        "instance_id": item,
        "test_result": {"git_patch": DIFF, "report": said},
        "metrics": None,
        "history": None,
        "error": None,
    }


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    return write(path / "output.jsonl", list(rows))


RESULT = {"resolved": True}


def test_a_line_without_an_outcome_has_none(tmp_path: Path) -> None:
    read = Read(FORMAT, lines(tmp_path, row(A)))
    assert read.of(A) == [(None, "no outcome in the log")]
    assert read.found() == {"not_scored": 1}


def test_outcomes_stand_in_the_line_or_in_the_evaluation_or_in_a_report(tmp_path: Path) -> None:
    own = lines(tmp_path / "a", row(A, report={"resolved": True}), row(B, report={"resolved": False}))
    assert Read(FORMAT, own).statuses() == {"passed": 1, "failed": 1}
    out = lines(tmp_path / "b", row(A), row(B), row(C), row(D), row(E))
    said = [evaluation(A, resolved=True), evaluation(B), evaluation(C, failed_apply_patch=True)]
    said += [evaluation(D, error_eval=True), evaluation(E, test_timeout=True)]
    write(out.parent / "output.swebench_eval.jsonl", said)
    read = Read(FORMAT, out.parent)
    assert read.column("item_id") == [A, B, C, D, E]
    assert read.column("status") == ["passed", "failed", "failed", "aborted", "timeout"]
    assert read.column("cost_usd") == [0.5] * 5
    lines(tmp_path / "c", row(A), row(B), row(C), row(D))
    told = {"submitted_ids": [A, B, C], "completed_ids": [A, B], "resolved_ids": [A], "unresolved_ids": [B]}
    told |= {"empty_patch_ids": [], "error_ids": [C], "incomplete_ids": [E], "resolved_instances": 2}
    write(tmp_path / "c/report.json", told)
    read = Read(FORMAT, tmp_path / "c")
    assert [read.of(i)[0][0] for i in (A, B, C, D, E)] == ["passed", "failed", "aborted", None, None]
    assert read.found() == {"total_disagrees": 1, "not_scored": 2}
    assert read.reading.planned is not None
    assert set(read.reading.planned.items) == {A, B, C, E}


@pytest.mark.parametrize(
    ("error", "resolved", "status", "late", "said"),
    [
        (LIMIT, True, "passed", False, "limit of iterations"),
        (LIMIT, False, "failed", False, "limit of iterations"),
        (LIMIT, None, "aborted", False, "limit of iterations"),
        ("Agent reached maximum budget for conversation. Current budget: 10", True, "passed", False, "limit of budget"),
        ("LLMContextWindowExceedError: too long", True, "passed", False, "limit of context"),
        ("EvalTimeoutException: Instance ran out", True, "timeout", True, "EvalTimeoutException"),
        ("RuntimeError: Instance acme timed out after 3600 seconds", False, "timeout", False, "timed out"),
        ("AgentStuckInLoopError: Agent got stuck in a loop", True, "aborted", False, "AgentStuckInLoopError"),
        ("litellm.Timeout: APITimeoutError - Request timed out.", True, "aborted", False, "litellm.Timeout"),
        ("STATUS$ERROR_LLM_SERVICE_UNAVAILABLE\nTraceback", False, "aborted", False, "STATUS$ERROR_LLM"),
        ("", True, "passed", False, ""),
    ],
)
def test_what_ended_an_agent_decides_its_status(
    tmp_path: Path, error: str, resolved: bool | None, status: str, late: bool, said: str
) -> None:
    read = Read(FORMAT, lines(tmp_path, row(A, error=error, report={"resolved": resolved})))
    (one,) = read.rows
    assert (one["status"], one["late_pass"]) == (status, late)
    assert said in (one["reason"] or "")
    assert "Traceback" not in (one["reason"] or "")


def test_an_error_is_lost_only_where_that_was_declared(tmp_path: Path) -> None:
    path = lines(tmp_path, row(A, error="RemoteDisconnected\nat runtime 9"), row(B, error="boom"))
    assert Read(FORMAT, path).statuses() == {"aborted": 2}
    assert Read(FORMAT, path, infra_errors=("at runtime",)).column("status") == ["lost", "aborted"]


def test_a_resumed_run_holds_an_instance_twice_and_both_are_rows(tmp_path: Path) -> None:
    path = lines(tmp_path, row(A, report={"resolved": False}), row(B, OTHER), row(A, report={"resolved": True}), row(B))
    write(tmp_path / "report.json", {"resolved_ids": [B], "unresolved_ids": []})
    read = Read(FORMAT, path.parent)
    assert [status for status, _ in read.of(A)] == ["failed", "passed"]
    assert read.of(B) == [(None, "a later line of this instance was judged"), ("passed", None)]
    assert read.column("line") == [1, 2, 3, 4]


def test_outcomes_that_disagree_are_both_rows(tmp_path: Path) -> None:
    path = lines(tmp_path, row(A, report={"resolved": True}))
    report = write(tmp_path / "other/report.json", {"resolved_ids": [], "unresolved_ids": [A]})
    assert [status for status, _ in Read(FORMAT, path, report).of(A)] == ["passed", "failed"]


def test_numbered_runs_are_repeats_with_their_own_reports(tmp_path: Path) -> None:
    for number, resolved in ((1, [A]), (2, [])):
        lines(tmp_path / f"x-run_{number}", row(A, run=f"x-run_{number}"))
        left = [A] if not resolved else []
        write(tmp_path / f"x-run_{number}/report.json", {"resolved_ids": resolved, "unresolved_ids": left})
    read = Read(FORMAT, tmp_path)
    assert [(r["repeat"], r["status"]) for r in read.rows] == [(1, "passed"), (2, "failed")]
    with pytest.raises(InputError, match="belongs to none of 2 runs"):
        Read(FORMAT, tmp_path, write(tmp_path / "z/report.json", {"resolved_ids": [A]}))


def test_runs_without_numbers_of_their_own_arent_repeats(tmp_path: Path) -> None:
    lines(tmp_path / "a", row(A, report={"resolved": True}))
    lines(tmp_path / "b", row(A, OTHER, report={"resolved": False}))  # also called run_1
    lines(tmp_path / "c", row(A, report={"resolved": False}, run="unnumbered"))
    read = Read(FORMAT, tmp_path)
    assert [(r["repeat"], r["status"]) for r in read.rows] == [(None, "passed"), (None, "failed"), (None, "failed")]


def test_an_evaluated_line_that_tells_of_its_agent_is_a_trial(tmp_path: Path) -> None:
    told = [evaluation(A, resolved=passed) | {"metrics": {"accumulated_cost": 1.5}} for passed in (True, True)]
    read = Read(FORMAT, lines(tmp_path, *told), write(tmp_path / "output.swebench_eval.jsonl", [evaluation(A)]))
    assert [(r["status"], r["cost_usd"]) for r in read.rows] == [("passed", 1.5), ("failed", 1.5)] * 2
    alone = Read(
        FORMAT, write(tmp_path / "x/output.swebench_eval.jsonl", [evaluation(A, resolved=True), evaluation(B)])
    )
    assert [(r["item_id"], r["status"]) for r in alone.rows] == [(A, "passed"), (B, "failed")]


def test_files_of_single_tries_and_copies_are_named_and_not_counted(tmp_path: Path) -> None:
    lines(tmp_path / "a", row(A))
    lines(tmp_path / "a/copy", row(A))
    write(tmp_path / "a/output.critic_attempt_1.jsonl", [row(A, OTHER)])
    read = Read(FORMAT, tmp_path / "a")
    assert len(read.rows) == 1
    assert read.found() == {"tries_collapsed": 1, "nested_copies": 1, "not_scored": 1}


def test_nothing_secret_leaves_the_log(tmp_path: Path) -> None:
    path = lines(tmp_path, row(A, error=f"AuthenticationError: Authorization: Bearer {SECRET}"))
    read = Read(FORMAT, path)
    told = json.dumps([read.rows, dict(read.reading.facts[""]), [f.found for f in read.notes.findings]])
    assert not [word for word in (SECRET, "someone", "do it") if word in told]
    assert read.of(A)[0][1] == "AuthenticationError: [cut]"
    assert read.reading.facts[""] == {
        "name": "CodeActAgent",
        "version": "abc123",
        "harness": "OpenHands abc123",
        "model": "acme/model-1",
        "temperature": "0.5",
        "run": "x-run_1",
    }


def test_a_cost_of_nothing_without_a_priced_call_isnt_known(tmp_path: Path) -> None:
    free = {"accumulated_cost": 0.0, "costs": [], "accumulated_token_usage": None}
    read = Read(FORMAT, lines(tmp_path, row(A, metrics=free), row(B)))
    assert read.column("cost_usd") == [None, 0.5]
    assert read.column("input_tokens") == [None, 100]
    assert read.column("wall_s") == [None, None]


def test_strata_are_repositories_or_a_field_of_the_instance(tmp_path: Path) -> None:
    path = lines(tmp_path, row(A))
    assert Read(FORMAT, path).column("stratum") == ["acme__tool"]
    assert Read(FORMAT, path, strata="level").column("stratum") == ["hard"]
    with pytest.raises(InputError, match="no line has a field size"):
        Read(FORMAT, path, strata="size")


def test_a_torn_last_line_is_noted_and_the_rest_read(tmp_path: Path) -> None:
    path = write(tmp_path / "output.jsonl", json.dumps(row(A)) + "\n" + json.dumps(row(B))[:-40])
    read = Read(FORMAT, path)
    assert (len(read.rows), read.found()["torn_line"]) == (1, 1)


WRONG: dict[str, tuple[str, Any, str]] = {
    "empty": ("output.jsonl", b"", "is empty"),
    "blank": ("output.jsonl", b"\n\n", "holds no instance"),
    "no JSON": ("output.jsonl", b"{\n{\n", "line 1"),
    "a bad line within": ("output.jsonl", json.dumps(row(A)) + "\n{\n" + json.dumps(row(B)) + "\n", "line 2"),
    "NaN": ("output.jsonl", json.dumps(row(A, metrics={"accumulated_cost": float("nan")})) + "\n", "NaN"),
    "a list": ("output.jsonl", b"[]\n", "no object"),
    "a key twice": ("output.jsonl", b'{"instance_id": "a", "instance_id": "b"}\n', "stands twice"),
    "byte-order mark": ("output.jsonl", b"\xef\xbb\xbf{}\n", "byte-order mark"),
    "not UTF-8": ("output.jsonl", b'{"instance_id": "\xff"}\n', "UTF-8"),
    "deep": ("output.jsonl", b'{"a":' * 50_000 + b"\n", "can't be read as JSON"),
    "no id": ("output.jsonl", [{"test_result": {}}], "no instance_id"),
    "id as a number": ("output.jsonl", [row(A) | {"instance_id": 4}], "isn't text"),
    "id with a control": ("output.jsonl", [row("a\tb")], "no instance id"),
    "no result at all": ("output.jsonl", [{"instance_id": A}], "neither test_result nor git_patch"),
    "result as text": ("output.jsonl", [row(A) | {"test_result": "x"}], "test_result: is no object"),
    "patch as a list": ("output.jsonl", [row(A) | {"test_result": {"git_patch": []}}], "patch isn't text"),
    "error as a list": ("output.jsonl", [row(A) | {"error": [1]}], "error: isn't text"),
    "resolved as text": ("output.jsonl", [row(A, report={"resolved": "true"})], "true, false or null"),
    "metrics as a list": ("output.jsonl", [row(A, metrics=[])], "metrics: is no object"),
    "negative cost": ("output.jsonl", [row(A, metrics={"accumulated_cost": -1})], "accumulated_cost"),
    "tokens as text": (
        "output.jsonl",
        [row(A, metrics={"accumulated_token_usage": {"prompt_tokens": "9"}})],
        "prompt_tokens",
    ),
    "another ending": ("output.txt", b"x", "ends in neither"),
    "a report alone": ("report.json", {"resolved_ids": [A]}, "belongs to none of 0 runs"),
    "no report": ("report.json", {"a": 1}, "no resolved_ids"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_malformed_log_is_one_line_of_error(tmp_path: Path, name: str) -> None:
    file, value, said = WRONG[name]
    with pytest.raises(InputError) as caught:
        Read(FORMAT, write(tmp_path / file, value))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_paths_that_are_nothing_or_something_else_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingInput, match="doesn't exist"):
        Read(FORMAT, tmp_path / "none.jsonl")
    with pytest.raises(InputError, match=r"holds no output\.jsonl"):
        Read(FORMAT, tmp_path / "empty")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/output.jsonl").symlink_to(lines(tmp_path / "a", row(A)))
    with pytest.raises(InputError, match="is a link"):
        Read(FORMAT, tmp_path / "linked")


SEED = (json.dumps(row(A, report={"resolved": True})) + "\n" + json.dumps(row(B, error=LIMIT)) + "\n").encode()


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 1500), at=st.integers(0, 1500), byte=st.integers(0, 255))
def test_bytes_cut_or_flipped_give_an_error_or_a_reading(tmp_path: Path, cut: int, at: int, byte: int) -> None:
    data = bytearray(SEED)
    data[at % len(data)] = byte
    path = write(tmp_path / "output.jsonl", bytes(data[: len(data) - cut % len(data)]))
    sniff(path)
    with contextlib.suppress(WeighbridgeError):  # anything else is a traceback
        assert Read(FORMAT, path).rows


def test_sniffing_knows_its_own_and_leaves_the_rest(tmp_path: Path) -> None:
    path = lines(tmp_path / "a", row(A))
    assert sniff(path)
    assert sniff(path.parent)
    write(tmp_path / "a/report.json", {"resolved_ids": [A], "total_instances": 1})
    assert (sniff(path.parent), swebench.sniff(path.parent)) == (
        True,
        False,
    )  # the report beside it is SWE-bench's form
    assert not sniff(write(tmp_path / "b/p.jsonl", [{"instance_id": A, "model_patch": DIFF, "error": None}]))
    assert not sniff(tmp_path / "b")
    assert not sniff(tmp_path / "none")


# The real file: three lines, printed beforehand with nothing but `json.loads`: no line has a report, the third has an
# error, tokens as asserted; the patches' lengths by `len(json.loads(line)["test_result"]["git_patch"].encode())`.
def test_the_real_run_has_two_unscored_lines_and_one_at_its_limit() -> None:
    read = Read(FORMAT, real("openhands/output.jsonl"))
    assert read.column("item_id") == ["ponylang__ponyc-4595", "ponylang__ponyc-4593", "ponylang__ponyc-4588"]
    assert read.column("status") == [None, None, "aborted"]
    assert str(read.column("reason")[2]).startswith(
        "limit of iterations: RuntimeError: Agent reached maximum iteration"
    )
    assert read.column("input_tokens") == [565_158, 410_169, 938_015]
    assert read.column("output_tokens") == [2_558, 5_156, 5_627]
    assert read.column("cost_usd") == [None] * 3  # nothing was priced
    assert [len(p.diff) for p in read.reading.patches] == [342, 533, 557]
    assert set(read.column("stratum")) == {"ponylang__ponyc"}
    assert read.items("not_scored") == ("ponylang__ponyc-4593", "ponylang__ponyc-4595")
    assert read.reading.facts[""]["model"] == "openai/openrouter-llama-4-maverick"
