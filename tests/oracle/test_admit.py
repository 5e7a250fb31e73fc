"""Preflight's word on an item: tried often enough, on wrong solutions too, and only by a harness that is itself sound."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.contract import layout, parquet, tables
from stages.contract.errors import WeighbridgeError
from stages.contract.study import entries, read_frozen, read_plan
from stages.exclude import exclude
from stages.freeze import freeze
from stages.oracle import Observation, SelfCheckFailed, admit
from stages.preflight import preflight, self_check
from stages.run import run
from stages.sandbox import Isolation, find
from stages.score import score
from tests.support.mini import make_study, stage, write

# What a check answers run after run (0 passes, 1 fails): on the reference three times, the untouched workspace twice,
# a wrong solution once, a patch that does nothing once.
ANSWERS = {
    "item-1": "010",  # the reference passes, then not
    "item-2": "00010",  # the untouched workspace fails, then not
    "item-3": "00001",  # the untouched workspace passes, then not
    "item-4": "00000",  # the untouched workspace always passes
    "item-5": "000110",  # a wrong solution passes
    "item-8": "011",  # the reference passes once
    "item-9": "100",  # the reference fails, then passes
    "item-10": "212",  # the reference never passes, and not always in the same way
    "item-11": "111",  # the reference never passes
    "item-12": "0001110",  # a patch that does nothing passes
}


def answer(root: Path, item_id: str, answers: str) -> None:
    """Give an item an oracle that answers so. It counts its runs in a file outside, which only tier `none` allows."""
    task, count = root / "data/pack/tasks" / item_id, root.parent / f"{item_id}.count"
    words = yaml.safe_load((task / "task.yaml").read_text(encoding="utf-8"))
    words["oracle"] = {"kind": "command", "command": ["sh", "check.sh"], "path": "oracle", "timeout_s": 30}
    write(task / "task.yaml", yaml.safe_dump(words))
    write(
        task / "oracle/check.sh",
        f'echo x >> {count}\nexit "$(echo {answers} | cut -c "$(wc -l < {count})" | grep .)"\n',
    )


@pytest.fixture(scope="module")
def excluded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study up to its exclusions, without isolation: sound items, and one for each way not to be."""
    changes: dict[str, Any] = {"run": {"isolation": "none"}, "protocol": {"trial_budget": 1}}
    root = make_study(tmp_path_factory.mktemp("admit") / "study", items=14, placebos=1, **changes)
    for item_id, answers in ANSWERS.items():
        answer(root, item_id, answers)
    tasks = root / "data/pack/tasks"
    right = (tasks / "item-6/solution/m_item_6.py").read_text(encoding="utf-8")
    write(tasks / "item-6/wrong/constant/m_item_6.py", right + "\n# right after all\n")
    write(tasks / "item-13/solution/NOTES.md", "Outside of what may be written.\n")
    freeze(root)
    preflight(root)
    run(root)
    score(root)
    exclude(root)
    return root


def checks(root: Path, item_id: str) -> list[dict[str, Any]]:
    """An item's evidence in the order in which it was found."""
    found = parquet.read(root / layout.CHECKS, tables.CHECKS).to_pylist()
    return sorted((c for c in found if c["item_id"] == item_id), key=lambda c: (c["observed_at"], c["try"]))


def word(root: Path, item_id: str) -> dict[str, Any]:
    return dict(json.loads((root / layout.ADMITTED).read_bytes())["items"][item_id])


@pytest.mark.parametrize("item_id", ["item-0", "item-7"])
def test_a_sound_item_had_its_reference_tried_three_times_its_workspace_twice_and_every_wrong_solution(
    excluded: Path, item_id: str
) -> None:
    made = checks(excluded, item_id)
    assert Counter(c["check"] for c in made) == {
        **dict.fromkeys(
            ("fixtures", "leak", "hidden tests", "contract", "interface", "oracle's imports", "statement"), 1
        ),
        "reference": 3,
        "baseline": 2,
        "wrong/constant": 1,
        "noop": 1,
        "mutants": 1,
        "boundary": 1,
    }
    ran = ("reference", "baseline", "wrong/constant", "noop")
    assert {c["check"]: c["found"] for c in made if c["check"] in ran} == {
        **dict.fromkeys(ran, "fail"),
        "reference": "pass",
    }
    (mutants,) = [c for c in made if c["check"] == "mutants"]
    assert mutants["found"] == "no mutants"
    assert mutants["detail"].startswith("without isolation"), "a fault in what deletes files must not reach the machine"
    assert all(c["ok"] and c["rule"] is None for c in made)
    assert word(excluded, item_id)["admitted"]
    assert word(excluded, item_id)["expected"] == ["test_oracle.py::test_sum", "test_oracle.py::test_zero"]


def test_a_placebo_is_tried_twice(excluded: Path) -> None:
    made = [c for c in checks(excluded, "placebo-0") if c["check"] in ("placebo", "boundary")]
    assert [(c["check"], c["try"], c["found"]) for c in made] == [
        ("placebo", 0, "fail"),
        ("placebo", 1, "fail"),
        ("boundary", 0, "inprocess"),
    ]
    assert word(excluded, "placebo-0")["admitted"]


@pytest.mark.parametrize("item_id", ["item-5", "item-6"])
def test_an_oracle_that_passes_a_known_wrong_solution_is_broken(excluded: Path, item_id: str) -> None:
    (refusal,) = [c for c in checks(excluded, item_id) if c["rule"]]
    assert (refusal["check"], refusal["found"], refusal["expected"]) == ("wrong/constant", "pass", "fail")
    assert refusal["rule"] == "oracle_broken"
    assert (word(excluded, item_id)["admitted"], word(excluded, item_id)["rule"]) == (False, "oracle_broken")


def test_an_oracle_that_always_passes_the_untouched_workspace_is_broken_and_not_flaky(excluded: Path) -> None:
    assert word(excluded, "item-4")["rule"] == "oracle_broken"
    assert [c["found"] for c in checks(excluded, "item-4") if c["check"] == "baseline"] == ["pass", "pass"]


@pytest.mark.parametrize(
    ("item_id", "rule", "found"),
    [("item-10", "oracle_flaky", ["broken", "fail", "broken"]), ("item-11", "oracle_broken", ["fail", "fail", "fail"])],
)
def test_a_reference_that_never_passes_is_tried_as_often_before_it_is_called_broken_or_flaky(
    excluded: Path, item_id: str, rule: str, found: list[str]
) -> None:
    made = [c for c in checks(excluded, item_id) if c["check"] == "reference"]
    assert [c["found"] for c in made] == found
    assert word(excluded, item_id)["rule"] == rule


def test_a_reference_that_fails_is_told_with_the_oracle_s_own_words() -> None:
    from stages.oracle.admit import _told

    seen = Observation(
        "fail", "1 of 2 tests failed", {"t.py::a": "passed", "t.py::b": "failed"}, output="x\nE   assert 1\n"
    )
    assert _told(seen) == "1 of 2 tests failed; first t.py::b; assert 1"
    assert _told(Observation("broken", "exit 2", output="a\nno such file\n")) == "exit 2; a | no such file"


def test_an_oracle_that_passes_a_patch_which_does_nothing_is_broken(excluded: Path) -> None:
    (refusal,) = [c for c in checks(excluded, "item-12") if c["rule"]]
    assert (refusal["check"], refusal["found"], refusal["rule"]) == ("noop", "pass", "oracle_broken")


def test_a_reference_solution_outside_of_its_own_contract_is_refused_before_anything_is_run(excluded: Path) -> None:
    made = checks(excluded, "item-13")
    (refusal,) = [c for c in made if c["rule"]]
    assert (refusal["check"], refusal["rule"]) == ("contract", "oracle_broken")
    assert refusal["found"] == "writes NOTES.md outside allow.files_write"
    assert not {c["check"] for c in made} & {"reference", "baseline", "mutant"}


@pytest.mark.parametrize(
    ("item_id", "check", "found", "expected"),
    [
        ("item-1", "reference", ["pass", "fail", "pass"], "pass"),
        ("item-2", "baseline", ["fail", "pass"], "fail"),
        ("item-3", "baseline", ["pass", "fail"], "fail"),
        ("item-8", "reference", ["pass", "fail", "fail"], "pass"),
        ("item-9", "reference", ["fail", "pass", "pass"], "pass"),
    ],
)
def test_an_oracle_with_two_answers_to_the_same_bytes_is_excluded_as_flaky_with_evidence_and_time(
    excluded: Path, item_id: str, check: str, found: list[str], expected: str
) -> None:
    made = checks(excluded, item_id)
    assert [c["found"] for c in made if c["check"] == check] == found
    assert {c["check"] for c in made if c["rule"]} == {check}
    assert made[-1]["check"] == check  # nothing is looked at behind the first refusal
    assert (word(excluded, item_id)["admitted"], word(excluded, item_id)["rule"]) == (False, "oracle_flaky")
    rows = parquet.read(excluded / layout.EXCLUSIONS, tables.EXCLUSIONS).to_pylist()
    (row,) = [r for r in rows if r["item_id"] == item_id]
    assert (row["rule"], row["scope"], row["accepted"]) == ("oracle_flaky", "item", True)
    other = {"pass": "fail", "fail": "pass"}[expected]
    assert row["evidence"] == f"{check}: found {other}, expected {expected}"
    assert row["time"] in {c["observed_at"] for c in made if c["check"] == check and c["found"] == other}


def test_refused_items_have_no_trials_and_are_all_that_is_excluded(excluded: Path) -> None:
    rows = parquet.read(excluded / layout.EXCLUSIONS, tables.EXCLUSIONS).to_pylist()
    refused = {f"item-{n}" for n in range(14)} - {"item-0", "item-7"}
    assert {r["item_id"] for r in rows} == refused
    trials = parquet.read(excluded / layout.TRIALS, tables.TRIALS).to_pylist()
    assert {t["item_id"] for t in trials} == {"item-0", "item-7", "placebo-0"}


@pytest.mark.parametrize("item_id", ["item-0", "item-1", "placebo-0"])
def test_a_sandbox_that_cannot_be_made_refuses_no_item(excluded: Path, item_id: str) -> None:
    plan = read_plan(excluded)
    files = {
        **entries(read_frozen(excluded, plan, layout.TREES)),
        **entries(read_frozen(excluded, plan, layout.HIDDEN)),
    }
    item = next(i for i in plan.items if i.item_id == item_id)
    with pytest.raises(WeighbridgeError, match=item_id):
        admit(item, files, lambda: None, Isolation("namespaces", bwrap="/bin/false"))


def test_where_the_harness_is_unsound_preflight_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_study(tmp_path / "study", items=1, placebos=1)
    freeze(root)

    def unsound(_: Isolation) -> list[str]:
        raise SelfCheckFailed("self-check", "a placebo got pass", "fail", "nothing is run")

    monkeypatch.setattr("stages.preflight.self_check", unsound)
    with pytest.raises(SelfCheckFailed):
        preflight(root)
    assert not (root / layout.ADMITTED).exists()
    assert not (root / layout.CHECKS).exists()


@pytest.mark.parametrize(
    ("verdicts", "what"),
    [
        (["pass"], "a placebo got pass"),
        (["broken"], "a placebo got broken"),
        (["fail", "pass"], "the untouched workspace got pass"),
        (["fail", "fail", "fail"], "a right solution got fail"),
    ],
)
def test_a_harness_that_cannot_tell_a_pass_from_a_fail_fails_its_self_check(
    monkeypatch: pytest.MonkeyPatch, verdicts: list[Any], what: str
) -> None:
    given = iter(verdicts)
    monkeypatch.setattr("stages.oracle.selfcheck.observe", lambda *_, **__: Observation(next(given), "as told"))
    with pytest.raises(SelfCheckFailed, match=what):
        self_check(find())


def test_the_self_check_shows_what_it_found_in_four_lines(tmp_path: Path) -> None:
    *lines, last = stage(tmp_path, "self-check").stdout.splitlines()
    assert [line.partition(" (")[0] for line in lines] == [
        "self-check: a placebo gets fail",
        "self-check: the untouched workspace gets fail",
        "self-check: a right solution gets pass",
        "self-check: a post-hoc exclusion is refused",
    ]
    assert last == "self-check ok"
