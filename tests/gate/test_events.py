"""Exclusion events are judged: registered, about the item, and there before the first trial or borne out by a check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stages.contract.errors import InputError
from stages.contract.protocol import INSTRUMENT_RULES
from stages.gate import read_events
from tests.gate.builder import Study, clear_effect, make_study

GOOD = {"rule": "missing_fixture", "item_id": "left-014", "time": "2026-03-01T08:00:00Z"}


def row(study: Study) -> dict[str, Any]:
    return next(r for r in study.tables()[1] if r["scope"] == "event")


@pytest.mark.parametrize(
    ("rule", "item", "why"),
    [
        ("candidate_failed", "left-014", "rule candidate_failed is not a rule"),
        ("pair_partner", "left-014", "rule pair_partner was not registered"),
        ("too_few_pairs", "left-014", "rule too_few_pairs was not registered"),
        ("missing_fixture", "placebo-0", "a placebo can't be excluded"),
        ("missing_fixture", "nowhere", "no item nowhere in the plan"),
        *((rule, "left-014", f"rule {rule} is decided by the session stamp alone") for rule in INSTRUMENT_RULES),
        (
            "missing_fixture",
            "left-014",
            "came after the first trial, and the check missing_fixture is not true on the frozen bytes",
        ),
    ],
)
def test_an_event_that_nothing_bears_out_is_refused_and_withholds(rule: str, item: str, why: str) -> None:
    study = make_study(clear_effect())
    study.event(rule, item)
    assert (row(study)["accepted"], row(study)["refused_why"]) == (False, why)
    d = study.decide()
    assert d["reason_details"] == {"posthoc_exclusion": f"{rule} for {item}: {why}"}
    assert d["counts"]["excluded"] == 0, "what is refused excludes nothing"


def test_a_rule_that_wasnt_registered_is_refused_even_before_the_first_trial() -> None:
    study = make_study(clear_effect(), {"exclusion_rules": ["missing_stamp"]})
    study.event("missing_fixture", "left-014", before=True)
    assert row(study)["refused_why"] == "rule missing_fixture was not registered"


def test_an_event_that_stood_before_the_first_trial_counts() -> None:
    study = make_study(clear_effect())
    study.event("missing_fixture", "left-014", "2026-03-01T10:00:00+02:00", before=True)
    assert row(study)["accepted"]
    assert row(study)["time"] == "2026-03-01T08:00:00.000000Z"
    d = study.decide()
    assert (d["decision"], d["dropped"]) == ("publish", ["left-014"])
    assert d["exclusions"] == {"missing_fixture": {"candidate": 1, "control": 1, "items": 1}}
    assert d["excluded_share"]["pairs"] == 1, "it was admitted, so it counts in the share"


def test_a_line_edited_after_the_first_trial_is_another_line() -> None:
    study = make_study(clear_effect())
    study.event("missing_fixture", "left-014", before=True)
    study.campaign["events"] = [study.campaign["events"][0].replace("left-014", "left-013")]
    assert not row(study)["accepted"]


def test_an_event_that_preflight_bears_out_counts_at_any_time() -> None:
    study = make_study(clear_effect())
    study.refuse("left-014", "oracle_broken")
    study.event("oracle_broken", "left-014")
    assert row(study)["accepted"]
    assert study.decide()["decision"] == "publish"
    study.event("leaked_solution", "left-014")
    assert study.decide()["reasons"] == ["posthoc_exclusion"], "another rule than the one that is true"


def write(root: Path, text: str | bytes) -> Path:
    (root / "data").mkdir()
    (root / "data/exclusions.jsonl").write_bytes(
        text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    )
    return root


def test_events_are_read_as_lines_and_none_is_none(tmp_path: Path) -> None:
    assert read_events(tmp_path) == []
    text = (
        '{"schema": "weighbridge.exclusions/1"}\n\n  '
        + json.dumps(GOOD)
        + "\r\n"
        + json.dumps({**GOOD, "evidence": "é"})
    )
    lines = read_events(write(tmp_path, text))
    assert [line for line, _ in lines] == [json.dumps(GOOD), json.dumps({**GOOD, "evidence": "é"})]
    assert [event.rule for _, event in lines] == ["missing_fixture"] * 2


def _with(**changes: Any) -> str:
    return json.dumps({k: v for k, v in {**GOOD, **changes}.items() if v != "drop"})


MALFORMED = {
    "not json": "missing_fixture left-014",
    "a list": "[1, 2]",
    "a string": '"missing_fixture"',
    "null": "null",
    "cut off": json.dumps(GOOD)[:-1],
    "two objects": json.dumps(GOOD) * 2,
    "repeated key": '{"rule": "a", "rule": "b", "item_id": "x", "time": "2026-03-01T08:00:00Z"}',
    "NaN": '{"rule": NaN, "item_id": "x", "time": "2026-03-01T08:00:00Z"}',
    "no rule": _with(rule="drop"),
    "no item": _with(item_id="drop"),
    "no time": _with(time="drop"),
    "unknown key": _with(reason="it failed"),
    "empty rule": _with(rule=""),
    "long rule": _with(rule="x" * 101),
    "rule as number": _with(rule=7),
    "item with a path": _with(item_id="../left"),
    "item with a newline": _with(item_id="left\n014"),
    "time without zone": _with(time="2026-03-01T08:00:00"),
    "time in words": _with(time="yesterday"),
    "time as number": _with(time=1772352000),
    "time as bool": _with(time=True),
    "year 1": _with(time="0001-01-01T00:00:00+23:59"),
    "year 9999": _with(time="9999-12-31T23:59:59-23:59"),
    "long evidence": _with(evidence="x" * 2001),
    "lone surrogate": json.dumps({**GOOD, "evidence": "\ud800"}),
    "deep": "[" * 60000,
    "long line": json.dumps({**GOOD, "evidence": " " * 70000}),
    "huge integer": _with(rule="drop")[:-1] + ', "rule": ' + "9" * 5000 + "}",
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_line_is_refused_in_one_line_that_names_it(kind: str, tmp_path: Path) -> None:
    root = write(tmp_path, json.dumps(GOOD) + "\n" + MALFORMED[kind] + "\n")
    with pytest.raises(InputError, match=r"data/exclusions\.jsonl:2") as error:
        read_events(root)
    assert "\n" not in str(error.value)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 2000


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\xef\xbb\xbf{}", b'{"rule": "a\x00"}'])
def test_bytes_that_are_no_text_are_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_events(write(tmp_path, data))
    assert "\n" not in str(error.value)


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data/exclusions.jsonl").mkdir(parents=True)
    with pytest.raises(InputError):
        read_events(tmp_path)
