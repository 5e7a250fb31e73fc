"""A pack and its outcomes give two arms and a plan; the article's accounting, or its refusal, stands beside them."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.contract.errors import WeighbridgeError
from stages.ingest.model import Notes, Options, Reading
from stages.ingest.trial_budget import FORMAT

PACK: dict[str, Any] = {
    "pack_id": "strata-demo-001",
    "trial_budget": 2,
    "strata": ["short_edit", "multi_file"],
    "exclusion_rules": ["missing_fixture", "oracle_broken"],
    "items": [
        {"id": "short-01", "stratum": "short_edit", "prompt_path": "p/short-01.md", "oracle": "x", "placebo": False},
        {"id": "wide-01", "stratum": "multi_file"},
        {"id": "trap-01", "stratum": "short_edit", "placebo": True},
    ],
}
ITEMS: dict[str, Any] = {
    "trap-01": {"candidate": [False, False], "control": [False, False]},
    "short-01": {"candidate": [True, False], "control": [False, False]},
    "wide-01": {"candidate": [False, True], "control": [True, True]},
}


def put(folder: Path, pack: Any = PACK, items: Any = ITEMS, **more: Any) -> list[Path]:
    paths = [folder / "task_pack.json", folder / "outcomes.json"]
    paths[0].write_bytes(json.dumps(pack, indent=2).encode())
    given_ = {"manifest_sha256": sha256(paths[0].read_bytes()).hexdigest(), "exclusions": [], "items": items, **more}
    paths[1].write_text(json.dumps(given_), encoding="utf-8")
    return paths


def look(paths: list[Path]) -> tuple[Reading, Notes]:
    notes = Notes()
    return FORMAT.read(paths, Options(), notes), notes


def refused(reading: Reading) -> str:
    said: dict[str, str] = reading.legacy["trial_budget"]
    assert list(said) == ["refused"]
    return said["refused"]


def test_the_sample_has_one_win_and_one_tie_on_short_01(tmp_path: Path) -> None:
    paths = put(tmp_path)
    assert all(FORMAT.sniff(path) for path in paths)
    reading, notes = look(paths)
    assert not notes.findings
    said = reading.legacy["trial_budget"]
    assert list(said) == ["manifest_sha256", "pack_id", "strata"]
    assert said["strata"] == {
        "short_edit": [
            {"wins": 1, "losses": 0, "ties": 1, "n": 2},
            {"wins": 0, "losses": 0, "ties": 2, "n": 2},
        ],
        "multi_file": [{"wins": 0, "losses": 1, "ties": 1, "n": 2}],
    }
    assert said["manifest_sha256"] == sha256(paths[0].read_bytes()).hexdigest()


def test_rows_keep_the_packs_order_strata_and_placebos(tmp_path: Path) -> None:
    reading, _ = look(put(tmp_path))
    rows = reading.rows.to_pylist()
    assert [(r["item_id"], r["arm"], r["repeat"]) for r in rows[:5]] == [
        ("short-01", "candidate", 1),
        ("short-01", "candidate", 2),
        ("short-01", "control", 1),
        ("short-01", "control", 2),
        ("wide-01", "candidate", 1),
    ]
    assert [r["status"] for r in rows].count("passed") == 4
    assert {(r["stratum"], r["placebo"]) for r in rows if r["item_id"] == "trap-01"} == {("short_edit", True)}
    assert {r["evidence"] for r in rows} == {None}
    assert reading.planned is not None
    assert reading.planned.repeats == 2
    assert list(reading.planned.items.items()) == [
        ("short-01", ("short_edit", False)),
        ("wide-01", ("multi_file", False)),
        ("trap-01", ("short_edit", True)),
    ]


def test_the_two_files_may_come_in_either_order(tmp_path: Path) -> None:
    forth, _ = look(put(tmp_path))
    back, _ = look(put(tmp_path)[::-1])
    assert forth.legacy == back.legacy
    assert {r["source"] for r in forth.rows.to_pylist()} == {1}
    assert {r["source"] for r in back.rows.to_pylist()} == {0}


@pytest.mark.parametrize("arm", ["candidate", "control"])
def test_a_placebo_that_passed_is_refused_there_and_left_to_our_gate(tmp_path: Path, arm: str) -> None:
    items = {**ITEMS, "trap-01": {**ITEMS["trap-01"], arm: [False, True]}}
    reading, _ = look(put(tmp_path, items=items))
    assert refused(reading) == f"the placebo trap-01 passed in the {arm} arm"
    passed = [r for r in reading.rows.to_pylist() if r["placebo"] and r["status"] == "passed"]
    assert [(r["arm"], r["repeat"]) for r in passed] == [(arm, 2)]


@pytest.mark.parametrize("arm", ["candidate", "control"])
@pytest.mark.parametrize("trials", [[], [True], [True, False, True]])
def test_another_number_of_trials_than_the_budget_is_refused_there(tmp_path: Path, arm: str, trials: Any) -> None:
    reading, _ = look(put(tmp_path, items={**ITEMS, "short-01": {**ITEMS["short-01"], arm: trials}}))
    assert refused(reading) == f"short-01 has {len(trials)} trials in the {arm} arm, and the budget is 2"
    mine = [r for r in reading.rows.to_pylist() if (r["item_id"], r["arm"]) == ("short-01", arm)]
    assert len(mine) == len(trials)


def test_an_item_without_outcomes_is_planned_and_has_no_rows(tmp_path: Path) -> None:
    reading, _ = look(put(tmp_path, items={k: v for k, v in ITEMS.items() if k != "wide-01"}))
    assert refused(reading) == "wide-01 has no outcomes"
    assert reading.planned is not None
    assert "wide-01" in reading.planned.items
    assert "wide-01" not in reading.rows.column("item_id").to_pylist()


def test_a_registered_exclusion_is_handed_on_and_refuses_nothing(tmp_path: Path) -> None:
    event = {"rule_id": "missing_fixture", "item_id": "wide-01", "timestamp": "2026-01-31T13:00:00+01:00"}
    reading, _ = look(put(tmp_path, exclusions=[event]))
    assert list(reading.excluded) == [("wide-01", "missing_fixture", "2026-01-31T12:00:00.000Z")]
    assert "strata" in reading.legacy["trial_budget"]


@pytest.mark.parametrize("rule", ["candidate_failed", "leaked_solution"])
def test_an_exclusion_after_the_fact_is_refused_there_and_not_registered_here(tmp_path: Path, rule: str) -> None:
    # the second is a rule that the article and we know, but this pack didn't register it
    reading, _ = look(put(tmp_path, exclusions=[{"rule_id": rule, "item_id": "wide-01", "timestamp": "2026-01-31"}]))
    assert refused(reading) == f"an exclusion after the fact: {rule} is no registered rule"
    assert list(reading.excluded) == [("wide-01", rule, None)]  # a time without a zone stays unknown
    assert reading.registered is not None
    assert rule not in reading.registered


def test_a_trial_without_an_outcome_is_noted(tmp_path: Path) -> None:
    reading, notes = look(
        put(tmp_path, items={**ITEMS, "wide-01": {"candidate": [None, True], "control": [True, True]}})
    )
    assert refused(reading) == "wide-01 has a trial without an outcome"
    assert [(f.kind, f.count, f.items) for f in notes.findings] == [("not_scored", 1, ("wide-01",))]
    assert [r["status"] for r in reading.rows.to_pylist() if r["reason"]] == [None]


def packed(**more: Any) -> dict[str, Any]:
    return {**PACK, **more}


def lacking(name: str) -> dict[str, Any]:
    return {key: value for key, value in PACK.items() if key != name}


def item(**more: Any) -> dict[str, Any]:
    return packed(items=[{**PACK["items"][0], **more}])


BAD_PACKS = {
    **{f"no {name}": lacking(name) for name in PACK},
    "a list": [],
    "budget 0": packed(trial_budget=0),
    "budget true": packed(trial_budget=True),
    "budget 2.0": packed(trial_budget=2.5),
    "budget as text": packed(trial_budget="2"),
    "budget beyond bounds": packed(trial_budget=10**9),
    "no items": packed(items=[]),
    "items as object": packed(items={}),
    "item as text": packed(items=["short-01"]),
    "id twice": packed(items=[*PACK["items"], PACK["items"][0]]),
    "id of a number": item(id=1),
    "id of two lines": item(id="a\nb"),
    "stratum unknown": item(stratum="easy"),
    "placebo as text": item(placebo="no"),
    "strata as text": packed(strata="short_edit"),
    "rules of numbers": packed(exclusion_rules=[1]),
}


@pytest.mark.parametrize("pack", BAD_PACKS.values(), ids=BAD_PACKS)
def test_what_is_no_pack_is_refused_in_one_line(tmp_path: Path, pack: Any) -> None:
    with pytest.raises(WeighbridgeError) as caught:
        look(put(tmp_path, pack, items={"short-01": ITEMS["short-01"]}))
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


EVENT = {"rule_id": "missing_fixture", "item_id": "wide-01", "timestamp": None}
BAD_OUTCOMES: dict[str, dict[str, Any]] = {
    "another hash": {"manifest_sha256": "0" * 64},
    "no hash": {"manifest_sha256": None},
    "items as list": {"items": []},
    "an unknown item": {"items": {**ITEMS, "other": ITEMS["short-01"]}},
    "one arm": {"items": {"short-01": {"candidate": [True, True]}}},
    "three arms": {"items": {"short-01": {**ITEMS["short-01"], "third": []}}},
    "arms as list": {"items": {"short-01": [[True], [True]]}},
    "numbers": {"items": {"short-01": {"candidate": [1, 0], "control": [0, 0]}}},
    "text": {"items": {"short-01": {"candidate": "no", "control": [True, True]}}},
    "exclusions as object": {"exclusions": {}},
    "exclusion as text": {"exclusions": ["missing_fixture"]},
    "exclusion without a rule": {"exclusions": [{"item_id": "wide-01"}]},
    "exclusion without an item": {"exclusions": [{"rule_id": "missing_fixture"}]},
    "exclusion of an unknown item": {"exclusions": [{**EVENT, "item_id": "other"}]},
    "exclusion at no time": {"exclusions": [{**EVENT, "timestamp": "yesterday"}]},
    "exclusion at a number": {"exclusions": [{**EVENT, "timestamp": 7}]},
}


@pytest.mark.parametrize("more", BAD_OUTCOMES.values(), ids=BAD_OUTCOMES)
def test_what_are_no_outcomes_of_the_pack_is_refused_in_one_line(tmp_path: Path, more: dict[str, Any]) -> None:
    with pytest.raises(WeighbridgeError) as caught:
        look(put(tmp_path, **more))
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_one_file_three_files_folders_and_packs_alone_are_refused(tmp_path: Path) -> None:
    paths = put(tmp_path)
    for given_ in (paths[:1], [*paths, paths[0]], [paths[0], paths[0]], [paths[1], paths[1]], [tmp_path, paths[1]]):
        with pytest.raises(WeighbridgeError):
            look(given_)
    assert not FORMAT.sniff(tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 1), st.integers(0, 2000), st.integers(0, 255), st.booleans())
def test_cut_or_changed_bytes_give_an_error_or_a_reading(
    tmp_path: Path, which: int, at: int, byte: int, cut: bool
) -> None:
    paths = put(tmp_path)
    data = paths[which].read_bytes()
    at %= len(data)
    paths[which].write_bytes(data[:at] if cut else data[:at] + bytes([byte]) + data[at + 1 :])
    with suppress(WeighbridgeError):
        look(paths)


def test_a_file_of_strata_is_not_mixed_with_those_of_the_pack(tmp_path: Path) -> None:
    from stages.contract.importing import ImportParams
    from stages.contract.protocol import Study
    from stages.ingest.build import build

    (tmp_path / "strata.csv").write_text("item_id,stratum\nshort-01,mine\n")
    params = ImportParams(logs=[str(path) for path in put(tmp_path)], strata="strata.csv")
    with pytest.raises(WeighbridgeError, match="trap-01: no stratum"):
        build(tmp_path, params, Study(), {}, "test")
