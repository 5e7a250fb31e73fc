"""SWE-bench's logs are read as their harness counts, and nothing that they don't say becomes a failure."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.contract.errors import InputError, MissingInput, WeighbridgeError
from stages.ingest.swebench import FORMAT, sniff
from stages.ingest.swebench_text import first_line, repository
from tests.ingest.swe_logs import DIFF, OTHER, Read, prediction, real, write

A, B, C, D, E = (f"acme__tool-{n}" for n in range(1, 6))


def run_report(**lists: list[str]) -> dict[str, Any]:
    """A run report of schema 2 whose totals are those of its lists."""
    names = ("submitted", "completed", "resolved", "unresolved", "empty_patch", "error", "incomplete")
    made: dict[str, Any] = {f"{n}_ids": lists.get(n, []) for n in names}
    made |= {f"{n}_instances": len(made[f"{n}_ids"]) for n in names if n != "incomplete"}
    made["total_instances"] = len({*made["submitted_ids"], *made["incomplete_ids"]})
    return made | {"schema_version": 2, "unstopped_containers": [], "unremoved_images": []}


FIVE = run_report(
    submitted=[A, B, C, D], completed=[A, B], resolved=[A], unresolved=[B], empty_patch=[C], error=[D], incomplete=[E]
)


def report(item: str, resolved: bool, **more: Any) -> dict[str, Any]:
    failing = [] if resolved else ["t_one"]
    tests = {
        "FAIL_TO_PASS": {"success": ["t_zero"], "failure": failing},
        "PASS_TO_PASS": {"success": [], "failure": []},
    }
    applied = {"patch_is_None": False, "patch_exists": True, "patch_successfully_applied": True}
    return {item: {**applied, "resolved": resolved, "tests_status": tests, **more}}


def instance(root: Path, item: str, resolved: bool | None, patch: str = DIFF, run: str = "r1", log: str = "") -> Path:
    folder = root / "logs/run_evaluation" / run / "acme__one" / item
    write(folder / "patch.diff", patch)
    if resolved is not None:
        write(folder / "report.json", report(item, resolved))
    if log:
        write(folder / "run_instance.log", log)
    return folder


def test_a_run_report_gives_each_id_the_outcome_of_its_list(tmp_path: Path) -> None:
    read = Read(FORMAT, write(tmp_path / "acme__one.r1.json", FIVE))
    assert [(row["item_id"], row["status"]) for row in read.rows] == [
        (A, "passed"),
        (B, "failed"),
        (C, "failed"),
        (D, "aborted"),
        (E, None),
    ]
    assert read.of(C) == [("failed", "empty patch")]
    assert read.found() == {"not_scored": 1}
    assert read.reading.planned is not None
    assert set(read.reading.planned.items) == {A, B, C, D, E}
    assert read.reading.planned.repeats == 1


def test_an_id_in_no_list_of_outcomes_is_missing_and_never_failed(tmp_path: Path) -> None:
    value = run_report(submitted=[A, B], completed=[A, B], resolved=[A])
    read = Read(FORMAT, write(tmp_path / "r.json", value))
    assert read.of(B) == [(None, "submitted, and in no list of outcomes")]
    assert "total_disagrees" in read.found()  # completed holds two, resolved and unresolved one


def test_schema_1_has_no_submitted_ids_and_so_no_plan(tmp_path: Path) -> None:
    value = {"total_instances": 3, "completed_instances": 2, "resolved_instances": 1, "completed_ids": [A, B]}
    value |= {"resolved_ids": [A], "unresolved_ids": [B], "error_ids": []}
    read = Read(FORMAT, write(tmp_path / "r.json", value))
    assert read.statuses() == {"passed": 1, "failed": 1}
    assert read.reading.planned is None


@pytest.mark.parametrize("total", ["submitted", "completed", "resolved", "unresolved", "empty_patch", "error"])
def test_a_claimed_total_that_its_list_denies_is_noted_with_both_numbers(tmp_path: Path, total: str) -> None:
    held = FIVE[f"{total}_instances"]
    read = Read(FORMAT, write(tmp_path / "r.json", {**FIVE, f"{total}_instances": held + 7}))
    (finding,) = [one for one in read.notes.findings if one.kind == "total_disagrees"]
    assert finding.found.startswith(f"{total}_instances says {held + 7}, ")
    assert finding.found.endswith(f" {held}")


def test_error_ids_are_lost_only_where_that_was_declared(tmp_path: Path) -> None:
    path = write(tmp_path / "r.json", FIVE)
    assert Read(FORMAT, path).of(D)[0][0] == "aborted"
    assert Read(FORMAT, path, infra_errors=("error_ids",)).of(D)[0][0] == "lost"
    assert Read(FORMAT, path, infra_errors=("docker",)).of(D)[0][0] == "aborted"
    assert Read(FORMAT, path, infra_errors=("empty patch",)).of(C)[0][0] == "failed"  # no error, so nothing to excuse


def test_predictions_alone_have_patches_and_no_outcomes(tmp_path: Path) -> None:
    rows = [prediction(A), prediction(B, ""), prediction(C, None)]
    read = Read(FORMAT, write(tmp_path / "preds.jsonl", rows))
    assert read.statuses() == {None: 3}
    assert read.column("patch_sha256") == [
        hashlib.sha256(DIFF.encode()).hexdigest(),
        hashlib.sha256(b"").hexdigest(),
        None,
    ]
    assert [(p.item_id, p.diff) for p in read.reading.patches] == [(A, DIFF.encode()), (B, b"")]
    assert read.reading.facts == {"": {"name": "acme__one"}}


@pytest.mark.parametrize("shape", ["lines", "list", "mapping"])
def test_predictions_come_as_lines_as_a_list_and_by_id(tmp_path: Path, shape: str) -> None:
    rows = [prediction(A), prediction(B, OTHER)]
    value: Any = {row["instance_id"]: row for row in rows} if shape == "mapping" else rows
    path = write(tmp_path / ("p.jsonl" if shape == "lines" else "p.json"), value)
    assert sniff(path)
    assert Read(FORMAT, path).column("item_id") == [A, B]


def test_predictions_and_report_are_one_row_an_instance(tmp_path: Path) -> None:
    preds = write(tmp_path / "preds.jsonl", [prediction(A), prediction(B, OTHER), prediction(C, "")])
    read = Read(FORMAT, preds, write(tmp_path / "acme__one.r1.json", FIVE))
    assert read.statuses() == {"passed": 1, "failed": 2, "aborted": 1, None: 1}
    assert read.column("patch_sha256")[0] == hashlib.sha256(DIFF.encode()).hexdigest()
    assert read.column("source") == [1] * 5


def test_an_empty_prediction_counts_as_failed_where_the_log_holds_outcomes(tmp_path: Path) -> None:
    preds = write(tmp_path / "preds.jsonl", [prediction(A), prediction(B, ""), prediction(C)])
    instance(tmp_path, A, True)
    read = Read(FORMAT, preds, tmp_path / "logs")
    assert (read.of(A), read.of(B)) == ([("passed", None)], [("failed", "empty patch")])
    assert read.of(C) == [(None, "no outcome in the log")]


def test_a_run_folder_without_a_report_has_no_outcome_or_the_error_of_its_log(tmp_path: Path) -> None:
    instance(tmp_path, A, True)
    instance(tmp_path, B, None)
    instance(
        tmp_path, C, None, log="2026-01-01 12:00:00 - ERROR - docker.errors.APIError: 500 for key=sk-abcdefgh12345678\n"
    )
    instance(
        tmp_path,
        D,
        None,
        log=">>>>> Applied Patch:\nx - INFO - Test timed out after 1800 seconds.\nEvaluationError: D\n",
    )
    instance(tmp_path, E, None, log=">>>>> Patch Apply Failed:\nhunk\nEvaluationError: boom\n")
    read = Read(FORMAT, tmp_path / "logs")
    assert [read.of(i)[0][0] for i in (A, B, C, D, E)] == ["passed", None, "aborted", "timeout", "failed"]
    assert "docker.errors.APIError: 500" in str(read.of(C))
    assert "sk-" not in str(read.rows)
    assert Read(FORMAT, tmp_path / "logs", infra_errors=("docker.errors",)).of(C)[0][0] == "lost"
    assert read.reading.facts[""] == {"name": "acme__one", "run": "r1"}


def test_outcomes_that_disagree_are_both_rows(tmp_path: Path) -> None:
    instance(tmp_path, B, True)
    read = Read(FORMAT, write(tmp_path / "acme__one.r1.json", FIVE), tmp_path / "logs")
    assert sorted(str(status) for status, _ in read.of(B)) == ["failed", "passed"]
    assert len(read.of(A)) == 1


def test_an_id_twice_in_one_list_is_two_rows_and_in_two_lists_too(tmp_path: Path) -> None:
    twice = run_report(submitted=[A, B], completed=[A, B], resolved=[A, A, B], unresolved=[B])
    read = Read(FORMAT, write(tmp_path / "r.json", twice))
    assert [status for status, _ in read.of(A)] == ["passed", "passed"]
    assert [status for status, _ in read.of(B)] == ["passed", "failed"]
    instance(tmp_path, A, True)  # the same outcome from elsewhere takes none away
    assert [status for status, _ in Read(FORMAT, tmp_path).of(A)] == ["passed", "passed"]


def test_only_the_last_of_two_predictions_was_judged(tmp_path: Path) -> None:
    preds = write(tmp_path / "p.jsonl", [prediction(A, OTHER), prediction(A), prediction(B), prediction(B)])
    read = Read(FORMAT, preds, write(tmp_path / "r.json", FIVE))
    assert read.of(A) == [(None, "a later prediction of this instance was judged"), ("passed", None)]
    assert [status for status, _ in read.of(B)] == ["failed", "failed"]  # the same patch twice


def test_a_patch_that_isnt_the_predicted_one_is_named_and_the_judged_one_kept(tmp_path: Path) -> None:
    instance(tmp_path, A, True, OTHER)
    instance(tmp_path, B, False, DIFF + "\n")  # a line end more is no other patch
    preds = write(tmp_path / "p.jsonl", [prediction(A), prediction(B)])
    read = Read(FORMAT, preds, tmp_path / "logs")
    assert read.items("patch_differs") == (A,)
    assert read.column("patch_sha256")[0] == hashlib.sha256(OTHER.encode()).hexdigest()


def test_runs_with_other_patches_are_repeats(tmp_path: Path) -> None:
    for run, patch, resolved in (("r1", DIFF, True), ("r2", OTHER, False)):
        instance(tmp_path, A, resolved, patch, run)
    read = Read(FORMAT, tmp_path / "logs")
    assert [(row["repeat"], row["status"]) for row in read.rows] == [(1, "passed"), (2, "failed")]


def test_runs_that_judge_the_same_patches_again_are_no_repeats(tmp_path: Path) -> None:
    for run, resolved in (("r1", True), ("r2", False)):
        instance(tmp_path, A, resolved, DIFF, run)
    read = Read(FORMAT, tmp_path / "logs")
    assert [(row["repeat"], row["status"]) for row in read.rows] == [(1, "passed"), (1, "failed")]


def test_run_reports_of_one_model_are_repeats_and_of_two_are_refused(tmp_path: Path) -> None:
    one = write(tmp_path / "acme__one.r1.json", FIVE)
    two = write(
        tmp_path / "acme__one.r2.json",
        {**FIVE, "resolved_ids": [A, B], "resolved_instances": 2, "unresolved_ids": [], "unresolved_instances": 0},
    )
    read = Read(FORMAT, one, two)
    assert [(r["repeat"], r["status"]) for r in read.rows if r["item_id"] == B] == [(1, "failed"), (2, "passed")]
    other = write(tmp_path / "acme__two.r1.json", {**FIVE, "extra": 1})
    with pytest.raises(InputError, match="several models"):
        Read(FORMAT, one, other)


def test_copies_of_files_are_read_once(tmp_path: Path) -> None:
    instance(tmp_path, A, True)
    instance(tmp_path / "logs/backup", A, True)
    path = write(tmp_path / "p.jsonl", [prediction(A)])
    read = Read(FORMAT, path, path, tmp_path / "logs")
    assert read.of(A) == [("passed", None)]
    assert read.found() == {"nested_copies": 2}


def test_results_of_a_submission_say_only_what_their_lists_say(tmp_path: Path) -> None:
    value = {"no_generation": [A], "no_logs": [B, A], "resolved": [C]}
    read = Read(FORMAT, write(tmp_path / "results.json", value))
    assert (read.of(A), read.of(B), read.of(C)) == (
        [("failed", "empty patch")],
        [(None, "no_logs")],
        [("passed", None)],
    )


def test_results_of_the_first_form_tell_applied_from_resolved(tmp_path: Path) -> None:
    value = {"generated": [A, B, C, D, E], "with_logs": [A, B, C, D], "applied": [A, B, C], "resolved": [A]}
    value |= {"test_timeout": [B], "no_apply": [D], "no_generation": [], "test_errored": [], "install_fail": []}
    read = Read(FORMAT, write(tmp_path / "results/results.json", value))
    assert [[status for status, _ in read.of(i)] for i in (A, B, C, D, E)] == [
        ["passed"],
        ["timeout"],
        ["failed"],
        ["failed"],
        [None],
    ]


def test_per_instance_details_have_costs(tmp_path: Path) -> None:
    value = {A: {"resolved": True, "cost": 0.25, "api_calls": 7}, B: {"resolved": False, "cost": float("nan")}}
    value[C] = {"resolved": False, "cost": -1}
    path = write(tmp_path / "per_instance_details.json", value)
    read = Read(FORMAT, path)
    assert (read.statuses(), read.column("cost_usd")) == ({"passed": 1, "failed": 2}, [0.25, None, None])
    assert sniff(path)


def test_the_tests_beside_a_verdict_are_compared_with_it(tmp_path: Path) -> None:
    said = report(A, True)
    said[A]["tests_status"]["PASS_TO_PASS"]["failure"] = ["t_two", "t_three"]
    folder = tmp_path / A
    write(folder / "report.json", said)
    read = Read(FORMAT, folder)
    assert (read.statuses(), read.found()) == ({"passed": 1}, {"total_disagrees": 1})
    assert read.notes.findings[0].found == "resolved, with 2 tests that failed"
    write(tmp_path / B / "report.json", {B: report(A, True)[A] | {"resolved": False}})
    other = Read(FORMAT, tmp_path / B)
    assert (other.statuses(), other.notes.findings[0].found) == (
        {"failed": 1},
        "not resolved, with all of 1 tests passed",
    )


def test_patches_that_dont_apply_fail_with_that_reason(tmp_path: Path) -> None:
    write(tmp_path / A / "report.json", report(A, False, patch_successfully_applied=False))
    write(tmp_path / B / "report.json", report(B, False, patch_is_None=True))
    read = Read(FORMAT, tmp_path)
    assert (read.of(A), read.of(B)) == ([("failed", "the patch didn't apply")], [("failed", "empty patch")])


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("django__django-11206", "django__django"),
        ("scikit-learn__scikit-learn-10844", "scikit-learn__scikit-learn"),
        ("instance_NodeBB__NodeBB-" + "0a" * 20 + "-vnan", "NodeBB__NodeBB"),
        ("instance_element-hq__element-web-" + "0a" * 20 + "-v" + "1b" * 20, "element-hq__element-web"),
        ("instance_flipt-io__flipt-" + "0a" * 20, "flipt-io__flipt"),
        ("oauthlib__oauthlib.1fd52536.combine_file__09vlzwgc", "oauthlib__oauthlib"),
        ("ponylang__ponyc-4595", "ponylang__ponyc"),
        ("task-7", None),
        ("word", None),
    ],
)
def test_the_repository_is_what_the_id_names(item: str, name: str | None) -> None:
    assert repository(item) == name


def test_strata_come_from_a_field_of_the_predictions_where_that_is_asked_for(tmp_path: Path) -> None:
    path = write(
        tmp_path / "p.jsonl", [prediction(A, difficulty="hard"), prediction(B, difficulty="easy"), prediction(C)]
    )
    assert Read(FORMAT, path, strata="difficulty").column("stratum") == ["hard", "easy", None]
    assert Read(FORMAT, path, strata="repo").column("stratum") == ["acme__tool"] * 3
    with pytest.raises(InputError, match="no row has a field size"):
        Read(FORMAT, path, strata="size")


def test_a_torn_last_line_is_noted_and_the_rest_read(tmp_path: Path) -> None:
    whole = "".join(json.dumps(prediction(i)) + "\n" for i in (A, B))
    read = Read(FORMAT, write(tmp_path / "p.jsonl", whole + '{"instance_id": "acme__to'))
    assert (len(read.rows), read.found()["torn_line"]) == (2, 1)


@pytest.mark.parametrize(
    "said",
    [
        "Authorization: Bearer abcdef0123456789",
        "failed for https://user:hunter2secret@example.org/x.git",
        "key=sk-proj-abcdefghijklmnop and more",
        "mail someone@example.org",
        "ghp_abcdefghijklmnopqrstuv0123",
    ],
)
def test_secrets_in_an_error_are_cut(said: str) -> None:
    made = first_line(said)
    assert "[cut]" in made
    assert not any(word in made for word in ("abcdef", "hunter2", "someone@"))


WRONG: dict[str, tuple[str, Any, str]] = {
    "empty": ("r.json", b"", "empty"),
    "white space": ("r.json", b" \n", "empty"),
    "no JSON": ("r.json", b"{", "can't be read as JSON"),
    "byte-order mark": ("r.json", b"\xef\xbb\xbf{}", "can't be read as JSON"),
    "not UTF-8": ("r.json", b'{"acme__tool-1\xff": true}', "can't be read as JSON"),
    "a key twice": ("r.json", f'{{"{A}": true, "{A}": false}}'.encode(), "stands twice"),
    "deep": ("r.json", b'{"a":' * 100_000, "can't be read as JSON"),
    "a number": ("r.json", 7, "neither an object nor a list"),
    "an empty object": ("r.json", {}, "names no instance"),
    "an empty list": ("r.json", [], "empty list"),
    "outcome as text": ("r.json", {A: "true"}, "is no outcome"),
    "outcome as a number": ("r.json", {A: 1}, "is no outcome"),
    "resolved as text": ("r.json", {A: {"resolved": "yes"}}, "true, false or null"),
    "list as text": ("r.json", {**FIVE, "resolved_ids": A}, "is no list"),
    "id as a number": ("r.json", {**FIVE, "resolved_ids": [7]}, "isn't text"),
    "id with a control": ("r.json", {"acme__tool\n1": True}, "is no instance id"),
    "endless id": ("r.json", {"a__b" * 500: True}, "is no instance id"),
    "half a surrogate": ("r.json", b'{"acme__\\ud800-1": true}', "is no instance id"),
    "total as text": ("r.json", {**FIVE, "resolved_instances": "1"}, "no whole number"),
    "huge integer": ("r.json", b'{"total_instances": ' + b"9" * 5000 + b"}", "can't be read as JSON"),
    "unknown schema": ("r.json", {**FIVE, "schema_version": 3}, "schema_version is 3"),
    "ids that differ": ("r.json", {A: prediction(B)}, "another instance_id"),
    "patch as a number": ("p.jsonl", [prediction(A) | {"model_patch": 3}], "patch isn't text"),
    "patch with half a surrogate": ("p.json", b'[{"instance_id": "a__b-1", "model_patch": "\\ud800"}]', "surrogate"),
    "no patch": ("p.jsonl", [{"instance_id": A}], "no instance_id or no model_patch"),
    "no object": ("p.jsonl", [prediction(A), 3], "no object"),
    "a bad line within": ("p.jsonl", json.dumps(prediction(A)) + "\n{\n" + json.dumps(prediction(B)) + "\n", "line 2"),
    "several models": ("p.jsonl", [prediction(A), prediction(B) | {"model_name_or_path": "x"}], "2 models"),
    "time as text": ("p.jsonl", [{"instanceId": A, "modelPatch": "", "durationMs": "1"}], "durationMs"),
    "negative cost": ("p.jsonl", [{"instanceId": A, "modelPatch": "", "costUsd": -1}], "costUsd"),
    "tokens as text": ("p.jsonl", [{"instanceId": A, "modelPatch": "", "inputTokens": "1"}], "tokens"),
    "another ending": ("p.yaml", b"a: 1", "ends in neither"),
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
    (tmp_path / "p.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    for path, kind, said in (
        (tmp_path / "none.json", MissingInput, "doesn't exist"),
        (tmp_path / "empty", InputError, "holds nothing of SWE-bench"),
        (tmp_path / "p.jsonl", InputError, "holds nothing of SWE-bench"),
        (tmp_path / "pipe.json", InputError, "no regular file"),
        (tmp_path / ("x" * 5000), InputError, "can't be read"),
    ):
        with pytest.raises(kind, match=said):
            Read(FORMAT, path)


def test_links_out_of_a_folder_are_refused(tmp_path: Path) -> None:
    target = write(tmp_path / "elsewhere.json", FIVE)
    folder = tmp_path / "run"
    instance(folder, A, True)
    (folder / "r.json").symlink_to(target)
    with pytest.raises(InputError, match="is a link"):
        Read(FORMAT, folder)
    (folder / "r.json").unlink()
    patch = folder / "logs/run_evaluation/r1/acme__one" / A / "patch.diff"
    patch.unlink()
    patch.symlink_to(target)
    with pytest.raises(InputError, match="is a link"):
        Read(FORMAT, folder)


def test_a_report_of_another_instance_than_its_folder_is_refused(tmp_path: Path) -> None:
    folder = instance(tmp_path, A, True)
    write(folder / "report.json", report(B, True))
    with pytest.raises(InputError, match="isn't about the instance"):
        Read(FORMAT, folder)


def test_two_patches_of_one_instance_in_one_run_are_refused(tmp_path: Path) -> None:
    instance(tmp_path, A, True)
    instance(tmp_path / "logs/copy", A, True, OTHER)
    with pytest.raises(InputError, match="another patch"):
        Read(FORMAT, tmp_path / "logs")


SEED = json.dumps({**FIVE}).encode()
LINES = "".join(json.dumps(prediction(i)) + "\n" for i in (A, B)).encode()


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.booleans(), cut=st.integers(0, 900), at=st.integers(0, 900), byte=st.integers(0, 255))
def test_bytes_cut_or_flipped_give_an_error_or_a_reading(
    tmp_path: Path, lines: bool, cut: int, at: int, byte: int
) -> None:
    data = bytearray(LINES if lines else SEED)
    data[at % len(data)] = byte
    path = write(tmp_path / ("p.jsonl" if lines else "r.json"), bytes(data[: len(data) - cut % len(data)]))
    sniff(path)
    with contextlib.suppress(WeighbridgeError):  # anything else is a traceback
        assert Read(FORMAT, path).rows


def test_sniffing_knows_its_own_and_leaves_the_rest(tmp_path: Path) -> None:
    ours = [
        write(tmp_path / "a.json", FIVE),
        write(tmp_path / "b.json", {"instance_NodeBB__NodeBB-" + "0a" * 20: True}),
        write(tmp_path / "c.json", {"no_generation": [], "resolved": [A]}),
        write(tmp_path / "d.jsonl", [prediction(A)]),
        write(tmp_path / A / "report.json", report(A, True)),
        tmp_path / A,
        tmp_path,
    ]
    assert all(sniff(path) for path in ours)
    theirs = [
        write(
            tmp_path / "o/output.jsonl",
            [{"instance_id": A, "test_result": {"git_patch": '"model_patch": 1'}, "metrics": {}}],
        ),
        write(tmp_path / "o/x.json", {"version": 2, "status": "success", "samples": []}),
        write(tmp_path / "o/y.csv", "item_id,passed\n"),
        tmp_path / "o",
        tmp_path / "nothing",
    ]
    assert not any(sniff(path) for path in theirs)


# Real logs. Numbers counted beforehand: `grep -l '"resolved": true' …/report.json | wc -l` (73; false: 25),
# `ls …/patch.diff | wc -l` (99), `grep -o ': true' eval_results.json | wc -l` for each agent, `cut -d'"' -f4 | uniq -c`.
VEXP = "swebench/vexp"
VEXP_REPORT = "vexp-swebench-1774184993333.vexp-swebench-1774184993333.json"


def test_vexp_two_of_a_hundred_have_no_report_and_only_one_of_those_no_outcome() -> None:
    root = real(VEXP)
    read = Read(FORMAT, root / "logs", root / "results/eval-logs/predictions.jsonl")
    assert read.statuses() == {"passed": 73, "failed": 26, None: 1}
    assert read.of("pydata__xarray-6992") == [(None, "no report.json")]
    assert read.of("django__django-13513") == [("failed", "empty patch")]
    whole = Read(FORMAT, root / "logs", root / "results/eval-logs/predictions.jsonl", root / VEXP_REPORT)
    assert whole.statuses() == {"passed": 73, "failed": 27}
    assert whole.of("pydata__xarray-6992") == [("failed", None)]


def test_a_data_set_smaller_than_its_run_is_denied_and_a_larger_one_named(tmp_path: Path) -> None:
    for claim, kind in ((4, "total_disagrees"), (12, "part_of_pack")):
        read = Read(FORMAT, write(tmp_path / "r.json", {**FIVE, "total_instances": claim}))
        assert [f.kind for f in read.notes.findings if f.kind in ("total_disagrees", "part_of_pack")] == [kind]


def test_vexp_took_100_of_500_instances() -> None:
    read = Read(FORMAT, real(VEXP) / VEXP_REPORT)
    (finding,) = read.notes.findings
    assert (finding.kind, finding.found) == (
        "part_of_pack",
        "100 of the data set's 500 instances",
    )
    assert read.reading.planned is not None
    assert len(read.reading.planned.items) == 100


def test_vexp_17_of_99_judged_patches_arent_the_predicted_ones() -> None:
    # `cmp` of each patch.diff with its prediction, written out by json.loads: 82 equal to the byte, 17 not
    root = real(VEXP)
    read = Read(FORMAT, root / "results/eval-logs/predictions.jsonl", root / "logs")
    assert read.found()["patch_differs"] == 17


def test_vexp_strata_are_its_twelve_repositories() -> None:
    read = Read(FORMAT, real(VEXP) / VEXP_REPORT)
    held = {name: read.column("stratum").count(name) for name in set(read.column("stratum"))}
    assert len(held) == 12
    assert (held["django__django"], held["sympy__sympy"], held["mwaskom__seaborn"]) == (44, 17, 1)


def test_vexp_rows_hold_time_tokens_and_costs() -> None:
    read = Read(FORMAT, real(VEXP) / "results/swebench-2026-03-22.jsonl")
    assert read.statuses() == {"passed": 73, "failed": 27}
    assert sum(read.column("wall_s")) == pytest.approx(16926.922)  # durationMs sum to 16926922
    first = read.rows[0]
    assert (first["input_tokens"], first["output_tokens"]) == (2 + 865_618 + 33_105, 155)
    assert read.column("started_at") == [None] * 100  # its stamps are five minutes apart each, and say not of what


def test_vexp_other_agents_say_only_what_they_resolved() -> None:
    read = Read(FORMAT, real(VEXP) / "data/external/openhands-resolved.json")
    assert read.statuses() == {"passed": 388}
    with pytest.raises(InputError, match="4 models or systems in one arm"):
        Read(FORMAT, real(VEXP))


PRO = {
    "claude-45sonnet-10132025": (319, 411),
    "claude-4sonnet-10132025": (240, 322),
    "claude-opus-4-1-paper": (206, 685),
    "claude-sonnet-4-paper": (166, 497),
    "gemini-2-5-pro-preview-paper": (105, 850),
    "gpt-4o-paper": (36, 583),
    "gpt-5-250-turns-10132025": (265, 464),
    "gptoss-paper": (118, 610),
    "kimi-k2-instruct-10132025": (202, 527),
}


def test_pro_nine_agents_have_their_own_ids_in_eleven_repositories() -> None:
    root = real("swebench/pro/traj")
    common: set[str] | None = None
    repositories: dict[str, int] = {}
    for name, (passed, failed) in PRO.items():
        read = Read(FORMAT, root / name)
        assert read.statuses() == {"passed": passed, "failed": failed}, name
        common = set(read.column("item_id")) & (common if common is not None else set(read.column("item_id")))
        for one in read.column("stratum"):
            repositories[one] = repositories.get(one, 0) + 1
    assert common is not None
    assert len(common) == 418  # `sort | uniq -c | awk '$1==9' | wc -l` over the nine lists of ids
    assert len(repositories) == 11
    assert (repositories["NodeBB__NodeBB"], repositories["tutao__tutanota"]) == (401, 284)


def test_mini_swe_agents_results_are_predictions() -> None:
    read = Read(FORMAT, real("sweagent/mini-swe-agent/tests/test_data/results.json"))
    assert read.column("item_id") == ["swe-agent__test-repo-1"]
    assert (read.statuses(), len(read.reading.patches)) == ({None: 1}, 1)
