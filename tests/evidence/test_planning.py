"""`weighbridge plan` and `weighbridge calibrate` through the command line."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.contract import layout, parquet, tables
from stages.contract.plan import Manifest
from stages.contract.study import read_manifest
from tests.cli.refusals import Case, Damage, Ended, assert_refused, call, parametrised, protocol, put, task

Run = Callable[[str], Ended]


@pytest.fixture
def anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The command line in this process, called from an empty folder."""
    (tmp_path / "empty").mkdir()
    return lambda command: call(monkeypatch, capfd, tmp_path / "empty", command)


def nothing(_: Path) -> None:
    """No damage: the command itself is wrong."""


def said(run: Run, command: str) -> dict[str, Any]:
    ended = run(f"{command} --json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert isinstance(found, dict)
    return found


def test_a_plan_from_sizes_needs_no_study(tmp_path: Path, anywhere: Run) -> None:
    ended = anywhere("plan --size repair=60 --size migration=30 --repeats 5 --effect 0.1")
    assert (ended.code, ended.err) == (0, "")
    assert "90 items, 2 strata, 5 repeats" in ended.out
    assert "the default protocol" in ended.out
    assert not list((tmp_path / "empty").iterdir())


def test_the_plan_of_a_pack_has_its_strata_repeats_and_the_mde80_that_freeze_recorded(
    frozen: Path, weighbridge: Run
) -> None:
    for number in range(4, 24):
        shutil.copytree(frozen / "data/pack/tasks/item-0", frozen / f"data/pack/tasks/item-{number}")
        task(lambda t, n=number: t.update(id=f"item-{n}", stratum=("left", "right")[n % 2]), f"item-{number}")(frozen)
    assert weighbridge("freeze").code == 0
    manifest: Manifest = read_manifest(frozen)
    found = said(weighbridge, "plan")
    assert found["design"]["labels"] == manifest.strata
    assert found["design"]["repeats"] == manifest.protocol.trial_budget
    assert found["mde80_freeze"] == manifest.mde80
    assert found["cannot_publish"] == []
    shutil.rmtree(frozen / "data/pack")
    assert said(weighbridge, "plan") == found


def test_a_plan_prints_80_columns_and_names_the_model_of_every_figure(anywhere: Run) -> None:
    for words in (
        "plan --size a=40 --size a-stratum-with-a-rather-long-name-that-somebody-chose=25 --cost-ratio 7",
        "plan --size a=30 --look 3 --rate 0.7 --icc 0.2 --effect -0.2 --effect 0.1 --effect 0.15",
    ):
        ended = anywhere(words)
        assert ended.code == 0, ended.err
        assert max(map(len, ended.out.splitlines())) <= 80
        text = " ".join(ended.out.split())
        for model in (
            "closed form",
            "normal model of the whole publish rule",
            "effects by headroom",
            "as freeze records",
        ):
            assert model in text


def test_json_holds_what_the_text_says(anywhere: Run) -> None:
    found = json.loads(anywhere("plan --size a=36 --effect 0.05 --effect 0.2 --cost-ratio 10 --json").out)
    five, twenty = found["effects"]
    # 36 items, 3 repeats: a true +5 points is published one time in ten, and 2.8 times too large.
    assert five["power"] == pytest.approx(0.10, abs=0.01)
    assert five["exaggeration"] == pytest.approx(2.8, abs=0.1)
    assert twenty["power"] > 0.8
    assert five["items_needed"] > 300
    assert twenty["items_needed"] <= 36
    assert (five["above_minimum"], twenty["above_minimum"]) == (False, True)
    assert five["best_repeats"] > twenty["best_repeats"] >= 1
    assert found["design"]["alpha_spent"] == 0.04
    assert found["mde80_by_power"] == pytest.approx(found["mde80"], abs=0.01)


def test_more_items_repeats_or_alpha_detect_smaller_effects(anywhere: Run) -> None:
    def mde(words: str) -> float:
        return float(json.loads(anywhere(f"plan --effect 0.1 --json {words}").out)["mde80"])

    base = mde("--size a=40")
    assert mde("--size a=80") < base
    assert mde("--size a=40 --repeats 6") < base
    assert mde("--size a=40 --look 2") > base
    assert mde("--size a=40 --clusters 2") > base


def test_a_design_below_the_floors_says_so_first(weighbridge: Run) -> None:
    ended = weighbridge("plan --effect 0.2")
    assert ended.code == 0
    assert ended.out.startswith("This design can't publish: ")
    assert "0.0 %" in ended.out
    ended = weighbridge("calibrate --datasets 10 --effect 0.2 --workers 1")
    assert ended.code == 0
    assert ended.err.startswith("this design can't publish: ")
    assert "too_few_clean_tasks" in ended.out


def test_few_units_are_simulated_through_the_rule_and_that_is_said(tmp_path: Path, monkeypatch: Any) -> None:
    from stages.evidence import planning
    from stages.evidence.assumed import Options

    monkeypatch.setattr(planning, "PLAN_DATASETS", 40)
    lines: list[str] = []
    options = Options([0.3], workers="1")
    found = planning.plan_study(tmp_path, ["a=24"], None, 3, 1, options, lines.append)
    assert found["simulated"]
    assert "simulated" in found["model"]["power"]
    (row,) = found["effects"]
    assert row["power_error"] > 0
    assert found["mde80_by_power"] is None


def test_a_margin_is_planned_from_minus_the_margin(frozen: Path, weighbridge: Run) -> None:
    protocol(claim="noninferiority", margin=0.1)(frozen)
    found = said(weighbridge, "plan --size a=200 --effect 0 --effect -0.1 --figure margin.svg")
    assert [row["effect"] for row in found["effects"]] == [-0.1, 0]
    assert found["effects"][0]["power"] < 0.05
    assert found["effects"][1]["power"] > 0.8
    assert "nothing to detect" in found["effects"][0]["items_why"]
    assert "margin of 0.1" in (frozen / "margin.svg").read_text()
    assert "from minus the margin" in weighbridge("plan --size a=120").out


# --- pilots ---------------------------------------------------------------------------------------------------------


def pilot(folder: Path, rows: list[tuple[str, int, int | None, int | None, bool]]) -> Path:
    """A folder with `pairs.parquet` of (item, repeat, candidate, control, kept)."""
    folder.mkdir()
    made = [
        {
            "item_id": item,
            "repeat": repeat,
            "stratum": "a",
            "cluster": None,
            "candidate": candidate,
            "control": control,
            "candidate_status": "passed",
            "control_status": "passed",
            "candidate_late": False,
            "control_late": False,
            "first": "candidate",
            "candidate_rule": None if kept else "queue_delay",
            "control_rule": None,
            "kept": kept,
        }
        for item, repeat, candidate, control, kept in rows
    ]
    parquet.write(folder / "pairs.parquet", parquet.table(tables.PAIRS, made))
    return folder


def test_a_pilot_says_how_items_differ_from_its_kept_pairs(tmp_path: Path, weighbridge: Run) -> None:
    rows = [(f"i{n:02}", r, int(n % 3 == 0), int((n + r) % 2), True) for n in range(30) for r in range(2)]
    folder = pilot(tmp_path / "pilot", [*rows, ("i00", 2, 1, 0, False)])
    found = said(weighbridge, f"plan --size a=60 --pilot {folder}")
    assert found["pilot"]["items"] == found["pilot"]["repeated"] == 30
    assert found["pilot"]["p"] == 0.5
    # The control flips in each item: 2 * .5 * .5 = .5 of noise; the candidate never.
    assert found["pilot"]["omega_squared"] == 0.5
    assert found["pilot"]["mde80_lo"] < found["mde80"] < found["pilot"]["mde80_hi"]
    assert "the pilot's 30 items" in found["model"]["spread"]
    text = weighbridge(f"plan --size a=60 --pilot {folder}").out
    assert "Pilot of 30 items" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_pilot_of_one_repeat_is_taken_as_it_is(tmp_path: Path, weighbridge: Run) -> None:
    folder = pilot(tmp_path / "pilot", [(f"i{n:02}", 0, n % 2, int(n % 3 == 0), True) for n in range(24)])
    found = said(weighbridge, f"plan --size a=60 --pilot {folder}")
    assert found["pilot"]["omega_squared"] is None
    again = said(weighbridge, f"plan --size a=60 --repeats 50 --pilot {folder}")
    assert again["mde80"] == pytest.approx(found["mde80"], rel=0.05)
    assert "can't be told apart" in " ".join(weighbridge(f"plan --size a=60 --pilot {folder}").out.split())


def test_a_finished_study_is_a_pilot(ran: Path, anywhere: Run) -> None:
    found = said(anywhere, f"plan --size a=60 --pilot {ran}")
    pairs = parquet.read(ran / layout.PAIRS, tables.PAIRS).to_pylist()
    assert found["pilot"]["items"] == len({p["item_id"] for p in pairs if p["kept"]})


# --- the figure -----------------------------------------------------------------------------------------------------


def test_the_figure_is_whole_names_axes_and_model_and_is_the_same_each_time(tmp_path: Path, anywhere: Run) -> None:
    drawn = []
    for name in ("one.svg", "two.svg"):
        ended = anywhere(f"plan --size a=36 --size b=36 --figure {name}")
        assert ended.code == 0, ended.err
        drawn.append((tmp_path / "empty" / name).read_bytes())
    assert drawn[0] == drawn[1]
    text = " ".join(" ".join(part for part in ET.fromstring(drawn[0]).itertext()).split())
    for words in (
        "How often 72 items in 2 strata, 3 repeats each, would be published",
        "chance of publishing (%)",
        "true difference of pass rates",
        "registered minimum 0.05",
        "MDE80 0.1",
        "normal model of the whole",
        "effects by headroom",
    ):
        assert words in text
    assert b"http" not in drawn[0].replace(b"http://www.w3.org", b"")


def test_the_curve_crosses_80_percent_where_the_plan_says(anywhere: Run) -> None:
    found = json.loads(anywhere("plan --size a=50 --json").out)
    below = [row["effect"] for row in found["curve"] if row["power"] < 0.8]
    above = [row["effect"] for row in found["curve"] if row["power"] >= 0.8]
    assert max(below) <= found["mde80_by_power"] <= min(above)


# --- calibrate ------------------------------------------------------------------------------------------------------


def test_calibrate_gives_rates_with_errors_and_the_same_for_any_workers(anywhere: Run) -> None:
    words = "calibrate --size a=15 --size b=15 --datasets 40 --effect 0.4 --seed 3 --json"
    one, two = (anywhere(f"{words} --workers {n}") for n in (1, 2))
    assert one.code == two.code == 0, two.err
    assert one.out == two.out
    found = json.loads(one.out)
    assert found["null"]["effect"] == 0
    assert found["null"]["false_publication"]["value"] <= 0.15
    (effect,) = found["effects"]
    assert effect["effect"] == 0.4
    assert effect["power"]["value"] >= 0.8
    assert effect["power"]["error"] > 0
    assert effect["coverage"]["of"] <= 40
    assert "Beta-binomial" in found["model"]


def test_calibrate_prints_80_columns_and_what_each_guard_costs(anywhere: Run) -> None:
    words = "calibrate --size a=24 --datasets 30 --workers 1 --effect 0.1 --effect 0.2 --effect 0.3 --effect -0.2"
    ended = anywhere(words)
    assert ended.code == 0, ended.err
    assert max(map(len, ended.out.splitlines())) <= 80
    for said_ in (
        "30 data sets of each, seed 0",
        "interval covers the truth",
        "withheld by this reason alone",
        "Model: ",
    ):
        assert said_ in ended.out
    assert "sign_flip_not_significant" in ended.out
    assert ended.err.splitlines()[-1].startswith("data sets 150/150")


def clusters(root: Path) -> None:
    for number in range(4):
        task(lambda t: t.update(cluster="repository"), f"item-{number}")(root)


def test_clusters_of_the_pack_are_simulated_as_clusters(frozen: Path, weighbridge: Run) -> None:
    clusters(frozen)
    ended = weighbridge("calibrate --datasets 10 --workers 1 --effect 0.1 --json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["design"]["clustered"]
    assert found["design"]["units"] == 2
    assert "clusters' effects of sd 0.2" in found["model"]


# --- refusals -------------------------------------------------------------------------------------------------------

WRONG = [
    *(
        (f"{command} {words}", said_)
        for command in ("plan", "calibrate")
        for words, said_ in (
            ("--size", "--size"),
            ("--size a", "NAME=N"),
            ("--size =5", "NAME=N"),
            ("--size a=", "NAME=N"),
            ("--size a=0", "NAME=N"),
            ("--size a=-3", "NAME=N"),
            ("--size a=1.5", "NAME=N"),
            ("--size a=²", "NAME=N"),
            ("--size ../a=5", "NAME=N"),
            ("--size a=5 --size a=6", "a twice"),
            ("--size a=100001", "100,000"),
            ("--size a=99999999999999999999", "NAME=N"),
            ("--size a=30 --repeats 0", "--repeats"),
            ("--size a=30 --repeats 1001", "1,000"),
            ("--size a=30 --repeats many", "--repeats"),
            ("--size a=30 --effect 1.5", "--effect"),
            ("--size a=30 --effect nan", "--effect"),
            ("--size a=30 --effect 0.6", "can't be drawn"),
            ("--size a=30 --effect -0.3 --rate 0.2", "between -0.2 and +0.8"),
            ("--size a=30 --rate 0", "--rate"),
            ("--size a=30 --rate 1", "--rate"),
            ("--size a=30 --rate inf", "--rate"),
            ("--size a=30 --icc -0.1", "--icc"),
            ("--size a=30 --icc nan", "--icc"),
            ("--size a=30 --clusters 0", "--clusters"),
            ("--size a=30 --cluster-sd 0.1", "without clusters"),
            ("--size a=30 --clusters 3 --cluster-sd 2", "--cluster-sd"),
            ("--size a=30 --look 0", "--look"),
            ("--size a=30 --look 1001", "--look"),
            ("-C nowhere", "params.yaml"),
        )
    ),
    ("plan --size a=30 --cost-ratio -1", "--cost-ratio"),
    ("plan --size a=30 --cost-ratio nan", "--cost-ratio"),
    ("plan --size a=30 --figure power.png", ".svg"),
    ("plan --size a=30 --figure nowhere/power.svg", "a folder that is there"),
    ("plan --size a=30 --pilot nowhere", "pairs.parquet"),
    ("plan --size a=30 --pilot . --rate 0.5", "one or the other"),
    ("calibrate --size a=30 --datasets 9", "--datasets"),
    ("calibrate --size a=30 --datasets 1000001", "1,000,000"),
    ("calibrate --size a=30 --seed -1", "--seed"),
    ("calibrate --size a=30 --workers 0", "--workers"),
    ("calibrate --size a=30 --workers 513", "--workers"),
    ("calibrate --size a=30 --workers two", "--workers"),
    ("calibrate --size a=30 --clusters 3 --cluster-sd 0.9", "leave room for"),
]


@pytest.mark.parametrize(("command", "words"), WRONG, ids=[command.replace(" ", "_") for command, _ in WRONG])
def test_a_wrong_option_is_one_line(command: str, words: str, frozen: Path, weighbridge: Run) -> None:
    assert_refused(frozen, Case(command, nothing, (words,), command), weighbridge)


def _series(root: Path) -> None:
    protocol(case_series=["nowhere"])(root)


DAMAGED: list[tuple[str, Damage, str]] = [
    ("unknown stratum", _series, "nowhere"),
    ("weights", protocol(strata_weights={"left": "1/2", "middle": "1/2"}), "strata_weights"),
    ("bad task", put("data/pack/tasks/item-0/task.yaml", "id: [\n"), "task.yaml"),
    ("no task file", lambda root: (root / "data/pack/tasks/item-0/task.yaml").unlink(), "task.yaml"),
    ("neither pack nor plan", lambda root: [shutil.rmtree(root / d) for d in ("data/pack", "data/frozen")], "--size"),
    ("no items", lambda root: [shutil.rmtree(p) for p in (root / "data/pack/tasks").glob("item-*")], "no task but"),
]


@parametrised(
    [
        Case(f"{command} {name}", damage, (words,), command)
        for name, damage, words in DAMAGED
        for command in ("plan", "calibrate")
    ]
)
def test_a_broken_study_is_one_line(case: Case, refuse: Callable[[Case], None]) -> None:
    refuse(case)


def test_the_frozen_plan_of_another_protocol_is_no_substitute(frozen: Path, weighbridge: Run) -> None:
    shutil.rmtree(frozen / "data/pack")
    protocol(alpha=0.01)(frozen)
    ended = weighbridge("plan")
    assert ended.code == 2
    assert "another protocol" in ended.err


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("i0", 0, 1, 0, True)], "two or more"),
        ([("i0", 0, 1, 0, False), ("i1", 0, 1, 0, False)], "0 items"),
        ([("i0", 0, 1, 0, True), ("i1", 0, 1, 0, True)], "differ alike"),
        ([("i0", 0, 1, None, True), ("i1", 0, 1, 0, True)], "outcome None"),
        ([("i0", 0, 7, 0, True), ("i1", 0, 1, 0, True)], "outcome 7"),
    ],
)
def test_a_pilot_that_says_nothing_is_refused(
    rows: list[tuple[str, int, int | None, int | None, bool]], words: str, tmp_path: Path, weighbridge: Run
) -> None:
    folder = pilot(tmp_path / "pilot", rows)
    ended = weighbridge(f"plan --size a=30 --pilot {folder}")
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert words in ended.err


def test_params_are_read_for_sizes_too(frozen: Path, weighbridge: Run) -> None:
    value = yaml.safe_load((frozen / "params.yaml").read_text())
    value["protocol"]["family"] = 4
    (frozen / "params.yaml").write_text(yaml.safe_dump(value, sort_keys=False))
    assert said(weighbridge, "plan --size a=30 --effect 0.1")["design"]["alpha_spent"] == 0.01
