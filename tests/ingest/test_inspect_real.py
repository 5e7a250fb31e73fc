"""Real Inspect logs, as far as they lie beside the project. What each holds was counted by a script apart from the reader.

It unpacked each member of `samples/` (inflate, or Zstandard), took `json.loads` of it, and counted the tuples of score
values, first words of the error, type of the limit, number of `error_retries`, and stratum; retries of model calls were
listed from the events by hand.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stages.contract.errors import InputError
from stages.ingest.inspect_log import FORMAT
from stages.ingest.model import Notes, Options, Reading


def _folder() -> Path | None:
    named = os.environ.get("WEIGHBRIDGE_LOGS")
    places = [Path(named)] if named else [p / "shared/data" for p in Path(__file__).resolve().parents]
    return next((place for place in places if (place / "inspect_made").is_dir()), None)


FOLDER = _folder()
pytestmark = pytest.mark.skipif(FOLDER is None, reason="no public logs here (WEIGHBRIDGE_LOGS names their folder)")

AI = "inspect/inspect_ai/tests"
HAWK = "inspect/hawk/tests"

# log: (passed, failed, no outcome, planned items x epochs, retries in all)
PUBLIC: dict[str, tuple[int, int, int, tuple[int, int] | None, int]] = {
    f"{AI}/analysis/test_logs/2025-05-12T20-27-36-04-00_browser.json": (1, 0, 0, (1, 1), 0),
    f"{AI}/analysis/test_logs/2025-05-12T20-28-13-04-00_no-samples.json": (0, 0, 0, (3, 1), 0),
    f"{AI}/analysis/test_logs/2025-05-12T20-28-13-04-00_popularity.json": (2, 1, 0, (3, 1), 0),
    f"{AI}/analysis/test_logs/2025-05-12T20-28-26-04-00_security-guide.json": (3, 0, 0, (3, 1), 0),
    f"{AI}/analysis/test_logs_choices/mmlu-no-summary-choices.eval": (0, 1, 0, (1, 1), 0),
    f"{AI}/analysis/test_logs_choices/mmlu-summary-choices.eval": (0, 1, 0, (1, 1), 0),
    f"{AI}/log/test_eval_log/log_formats.eval": (0, 1, 0, (1, 1), 0),
    f"{AI}/log/test_eval_log/log_formats.json": (0, 1, 0, None, 0),
    f"{AI}/log/test_eval_log/log_images.json": (0, 1, 0, None, 0),
    f"{AI}/log/test_eval_log/log_images_tc.json": (0, 1, 0, None, 0),
    f"{AI}/log/test_eval_log/log_message_deduplication.eval": (0, 1, 0, (1, 1), 0),
    f"{AI}/log/test_eval_log/log_read_sample.eval": (1, 0, 0, (1, 1), 0),
    f"{AI}/log/test_eval_log/log_read_sample.json": (1, 0, 0, (1, 1), 0),
    f"{AI}/log/test_eval_log/log_streaming.eval": (3, 1, 0, (2, 2), 0),
    f"{AI}/log/test_eval_log/log_tool_call_error.json": (0, 0, 1, (1, 1), 0),
    f"{AI}/log/test_list_logs/2024-11-05T13-31-45-05-00_input-task_8zXjbRzCWrL9GXiXo2vus9.json": (1, 0, 0, (1, 1), 0),
    f"{AI}/log/test_list_logs/custom.eval": (1, 0, 0, (1, 1), 0),
    f"{AI}/scorer/logs/2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval": (0, 0, 10, (10, 1), 0),
    f"{AI}/scorer/logs/2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval": (8, 2, 0, (10, 1), 0),
    f"{AI}/test_eval_set/2024-08-29T15-11-17+00-00_popularity_5EAmX6wjMFqea6WY7XHzZp.json": (0, 0, 0, None, 0),
    f"{HAWK}/core/importer/data_fixtures/eval_logs/small.eval": (6, 0, 0, (1, 6), 0),
    f"{HAWK}/runner/data_fixtures/eval_logs/2025-12-13T23-15-44+00-00_class-eval_XDtHXBaqEHGUBoFoinn2wS.eval": (
        *(5, 0, 0, (5, 1)),
        1,
    ),
}

# what was made: (passed, failed, aborted, no outcome), passes in parser, storage, network, findings
MADE: dict[str, tuple[tuple[int, int, int, int], tuple[int, int, int], dict[str, int]]] = {
    "2026-11-30T14-36-59-00-00_toolfix_JtoFQa3jfWzXFUaMYYnQ9Z.eval": ((50, 22, 0, 0), (16, 16, 18), {}),
    "2026-11-30T14-38-37-00-00_toolfix_LuQwWTdKRj9U7AjkHGg3s9.json": ((50, 22, 0, 0), (16, 16, 18), {}),
    "2026-11-30T14-37-14-00-00_toolfix_VKTgjqzq7ucZrP36ezfuNZ.eval": (
        *((44, 20, 8, 0), (16, 14, 14)),
        {"total_disagrees": 1},
    ),
    "2026-11-30T14-37-33-00-00_toolfix_geYU8ZeBj7KMMe3Mavabth.eval": ((44, 28, 0, 0), (14, 12, 18), {}),
    "2026-11-30T14-37-58-00-00_toolfix_8ssCzMnV2XDooQ2ww8aWFC.eval": ((44, 28, 0, 0), (14, 12, 18), {}),
    "2026-11-30T14-38-17-00-00_toolfix_CdH4uEqDrc5qKavRv4Dojo.eval": (
        *((37, 19, 0, 16), (11, 14, 12)),
        {"not_scored": 16, "total_disagrees": 1},
    ),
}


def read(name: str, **options: Any) -> tuple[Reading, Notes]:
    assert FOLDER is not None
    notes = Notes()
    assert FORMAT.sniff(FOLDER / name)
    return FORMAT.read([FOLDER / name], Options(**options), notes), notes


@pytest.mark.parametrize("name", PUBLIC, ids=lambda name: Path(name).name)
def test_public_logs_are_counted_as_by_hand(name: str) -> None:
    passed, failed, nothing, plan, retries = PUBLIC[name]
    reading, _ = read(name)
    found = Counter(reading.rows["status"].to_pylist())
    assert found == Counter({"passed": passed, "failed": failed, None: nothing})
    assert (reading.planned and (len(reading.planned.items), reading.planned.repeats)) == plan
    assert sum(value or 0 for value in reading.rows["retries"].to_pylist()) == retries


@pytest.mark.parametrize("name", MADE)
def test_made_logs_add_up_to_what_was_planned(name: str) -> None:
    (passed, failed, aborted, missing), strata, findings = MADE[name]
    reading, notes = read(f"inspect_made/{name}")
    rows = reading.rows.to_pylist()
    assert Counter(row["status"] for row in rows) == Counter(
        {"passed": passed, "failed": failed, "aborted": aborted, None: missing}
    )
    assert passed + failed + aborted + missing == 72
    assert reading.planned is not None
    assert reading.planned.repeats == 3
    every = {(item, repeat) for item in reading.planned.items for repeat in (1, 2, 3)}
    assert {(row["item_id"], row["repeat"]) for row in rows} == every
    assert len(every) == len(rows) == 72
    of = Counter(row["stratum"] for row in rows if row["status"] == "passed")
    assert tuple(of[stratum] for stratum in ("parser", "storage", "network")) == strata
    assert {found.kind: found.count for found in notes.findings} == findings


def test_errors_that_were_declared_are_lost_and_others_are_aborts() -> None:
    name = "inspect_made/2026-11-30T14-37-14-00-00_toolfix_VKTgjqzq7ucZrP36ezfuNZ.eval"
    rows, _ = read(name, infra_errors=("container gone",))
    assert Counter(rows.rows["status"].to_pylist())["lost"] == 8
    assert set(rows.rows["reason"].to_pylist()) == {
        None,
        "RuntimeError('sandbox exec failed: container gone (exit 137)')",
    }


def test_retries_and_limits_are_told_and_change_no_outcome() -> None:
    retried, _ = read("inspect_made/2026-11-30T14-37-33-00-00_toolfix_geYU8ZeBj7KMMe3Mavabth.eval")
    assert Counter(retried.rows["attempts"].to_pylist()) == {1: 42, 2: 30}
    assert Counter(retried.rows["retries"].to_pylist()) == {0: 42, 1: 30}
    limited, _ = read("inspect_made/2026-11-30T14-37-58-00-00_toolfix_8ssCzMnV2XDooQ2ww8aWFC.eval")
    reasons = Counter(zip(limited.rows["reason"].to_pylist(), limited.rows["status"].to_pylist(), strict=True))
    assert reasons == {
        ("limit: message", "passed"): 17,
        ("limit: message", "failed"): 13,
        (None, "passed"): 27,
        (None, "failed"): 15,
    }


def test_waits_and_served_models_of_a_real_agent() -> None:
    reading, _ = read(f"{HAWK}/core/importer/data_fixtures/eval_logs/small.eval")
    rows = {row["repeat"]: row for row in reading.rows.to_pylist()}
    assert rows[3]["queue_ms"] == 148_313.0  # 214.066 s in all, 65.753 s at work
    assert {row["served_model"] for row in rows.values()} == {"claude-opus-4-1-20250805"}
    assert {row["evidence"] for row in rows.values()} == {"exported"}
    assert reading.facts[""]["time_budget"] == "token_limit=8000000"


def test_a_folder_of_one_run_in_copies_is_read_once() -> None:
    reading, notes = read(f"{AI}/log/test_list_logs")
    assert reading.rows.num_rows == 2  # four files: a .eval and a .json, each with a copy under another name
    assert [(found.kind, found.count) for found in notes.findings] == [("nested_copies", 2)]


def test_logs_whose_scores_come_from_two_scorers_are_not_mixed() -> None:
    with pytest.raises(InputError, match=r"includes, match.*--filter"):
        read(f"{AI}/analysis/test_logs")


def test_no_login_or_git_address_leaves_the_real_logs() -> None:
    for name in PUBLIC:
        reading, notes = read(name)
        told = repr((reading.facts, reading.rows.to_pylist(), reading.planned, notes.findings))
        assert "oauth2" not in told
        assert "git@" not in told
