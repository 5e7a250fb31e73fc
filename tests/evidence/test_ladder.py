"""Neighbouring ranks, judged pair by pair. Expected passes and common ids are counted from the rows themselves."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stages.contract.errors import UsageError
from stages.evidence.importing import draw_ladder
from stages.evidence.ladder import climb, ladder_lines
from tests.support.logs import row, write_rows

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("WEIGHBRIDGE_LOGS") or ROOT.parent / "shared" / "data")


def arms(folder: Path, won: Mapping[str, set[int]], items: Mapping[str, range]) -> dict[str, list[Path]]:
    return {
        name: [write_rows(folder / f"{name}.jsonl", [row(i, int(i in own)) for i in items[name]])]
        for name, own in won.items()
    }


def test_ranks_separate_only_where_the_rule_says_so(tmp_path: Path) -> None:
    items = dict.fromkeys(("high", "low", "near"), range(60))
    won = {"low": set(range(20)), "high": set(range(50)), "near": set(range(18))}
    made = climb(arms(tmp_path, won, items), {}, {}, "test")
    assert [(a["rank"], a["name"], a["passed"], a["items"]) for a in made["arms"]] == [
        (1, "high", 50, 60),
        (2, "low", 20, 60),
        (3, "near", 18, 60),
    ]
    first, second = made["pairs"]
    assert (first["upper"], first["lower"], first["delta"], first["separable"]) == ("high", "low", 0.5, True)
    assert (second["wins"], second["losses"], second["separable"]) == (2, 0, False)
    assert first["alpha_in_family"] == pytest.approx(first["alpha_spent"] / 2)
    said = "\n".join(ladder_lines(made))
    assert "1 of 2 neighbouring pairs separate" in said
    assert "no rank" in said


def test_pairs_meet_on_their_common_items_and_list_the_rest(tmp_path: Path) -> None:
    made = climb(
        arms(tmp_path, {"a": set(range(40)), "b": set(range(30))}, {"a": range(50), "b": range(10, 80)}), {}, {}, "test"
    )
    (pair,) = made["pairs"]
    assert (pair["common"], pair["only_upper"], pair["only_lower"], pair["missing"]) == (40, 10, 30, 0)


def test_the_union_of_several_runs_is_no_run(tmp_path: Path) -> None:
    items = dict.fromkeys(("best", "one", "two"), range(40))
    won = {"one": set(range(20)), "two": set(range(10, 30)), "best": set(range(30))}
    made = climb(arms(tmp_path, won, items), {}, {}, "test")
    assert made["unions"] == [{"arm": "best", "of": ["one", "two"], "passes": 30}]
    assert "no run of its own" in "\n".join(ladder_lines(made))


def test_the_figure_is_a_picture_with_every_pair(tmp_path: Path) -> None:
    items = dict.fromkeys(("a", "b"), range(30))
    made = climb(arms(tmp_path, {"a": set(range(25)), "b": set(range(5))}, items), {}, {}, "test")
    draw_ladder(made, tmp_path / "ladder.svg")
    text = "".join(ElementTree.parse(tmp_path / "ladder.svg").getroot().itertext())
    assert "a over b (30)" in text
    with pytest.raises(UsageError, match=r"\.svg"):
        draw_ladder(made, tmp_path / "ladder.png")


def test_one_arm_is_no_ladder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="1 arms"):
        climb(arms(tmp_path, {"a": {1}}, {"a": range(3)}), {}, {}, "test")


def test_nine_public_agents_with_different_ids() -> None:
    folder = SHARED / "swebench" / "pro" / "traj"
    if not folder.is_dir():
        pytest.skip("no public SWE-bench Pro results here (WEIGHBRIDGE_LOGS names the folder that holds them)")
    paths = {path.parent.name: [path] for path in sorted(folder.glob("*/eval_results.json"))}
    held = {name: json.loads(own[0].read_text()) for name, own in paths.items()}
    made = climb(paths, {}, {}, "test")
    assert len(made["arms"]) == 9
    assert {a["name"]: (a["passed"], a["items"]) for a in made["arms"]} == {
        name: (sum(own.values()), len(own)) for name, own in held.items()
    }
    for pair in made["pairs"]:
        one, two = held[pair["upper"]], held[pair["lower"]]
        common = one.keys() & two.keys()
        assert pair["common"] == len(common)
        assert (pair["only_upper"], pair["only_lower"]) == (len(one) - len(common), len(two) - len(common))
        wins = sum(one[i] and not two[i] for i in common)
        losses = sum(two[i] and not one[i] for i in common)
        assert (pair["wins"], pair["losses"]) == (wins, losses)


def test_no_arm_rises_by_what_it_leaves_out_copies_or_adds_as_placebos(tmp_path: Path) -> None:
    rows = {
        "shy": [row(i, 1) for i in range(25)] + [row(i, None) for i in range(25, 60)],
        "loud": [row(i, int(i < 20)) for i in range(60)] + [row(f"p{i}", 1, placebo=True) for i in range(100)],
        "torn": [row(i, int(i < 22)) for i in range(60)] + [row(0, 1)] * 9 + [row(1, 0)],
        "plain": [row(i, int(i < 50)) for i in range(60)],
    }
    made = climb({name: [write_rows(tmp_path / f"{name}.jsonl", own)] for name, own in rows.items()}, {}, {}, "test")
    assert [(a["name"], a["passed"], a["items"], a["missing"]) for a in made["arms"]] == [
        ("plain", 50, 60, 0),
        ("shy", 25, 60, 35),
        ("torn", 21, 60, 1),
        ("loud", 20, 60, 0),
    ]
    assert "25 of 60 (0.417), 35 trials without an outcome" in "\n".join(ladder_lines(made))
