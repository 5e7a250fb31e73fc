"""Holm over a family of studies. Reference p-values are SciPy's binomial; the steps are worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import scipy.stats

from stages.contract import layout
from stages.contract.errors import InputError, UsageError
from stages.evidence.family import family_lines, step_down
from tests.gate.builder import Study, make_study, outcomes, placebos


def study(name: str, wins: int, losses: int, family: int = 2, **protocol: Any) -> Study:
    """100 items of one stratum; the other 100 − wins − losses tie."""

    def edit(raw: dict[str, Any]) -> None:
        raw["arms"]["candidate"]["name"] = name

    items = [*outcomes("left", wins, losses, 100 - wins - losses), *placebos()]
    made = make_study(items, {"family": family, **protocol}, edit=edit)
    made.campaign["candidates"] = [name]
    return made


def test_the_second_step_spends_what_the_first_has_left(tmp_path: Path) -> None:
    """p of 17 : 6 lies between .04 / 2 and .04: alone it is withheld, after a published first step it is published."""
    p = scipy.stats.binomtest(17, 23).pvalue
    assert 0.02 < p < 0.04
    weak, strong = study("weak", 17, 6).write(tmp_path / "weak"), study("strong", 30, 4).write(tmp_path / "strong")
    assert json.loads((weak / layout.DECISION).read_text())["reasons"] == [
        "interval_crosses_zero",
        "sign_flip_not_significant",
    ]
    rows = step_down([weak, strong])
    assert [r["candidate"] for r in rows] == ["strong 2.0", "weak 2.0"]
    assert [r["alpha_step_exact"] for r in rows] == ["0.02", "0.04"]
    assert [(r["decision_alone"], r["decision"]) for r in rows] == [("publish", "publish"), ("withhold", "publish")]
    assert rows[1]["p_sign_flip"] == pytest.approx(p, rel=1e-5)
    assert step_down([strong, weak]) == rows, "the order in which studies are named doesn't matter"
    lines = family_lines(rows)
    assert lines[0].startswith("Holm's steps over 2 of a family of 2 candidates against old 1.0")
    assert lines[2].startswith("weak 2.0: publish (publish_blocked_delta_only); step 2, alpha 0.04, p 0.0346")
    assert lines[2].endswith("its own decision, at 0.02: withhold")


def test_after_a_step_that_fails_the_others_stay_where_they_are(tmp_path: Path) -> None:
    """Three of a family: at .04 / 3 neither 17 : 6 nor what comes after it is published, whatever .04 would say."""
    roots = [study(n, w, lost, 3).write(tmp_path / n) for n, w, lost in (("a", 17, 6), ("b", 30, 4), ("c", 12, 10))]
    rows = step_down(roots)
    assert [r["candidate"][0] for r in rows] == ["b", "a", "c"]
    assert [r["alpha_step_exact"] for r in rows] == ["1/75", "0.02", None]
    assert [r["reason"] for r in rows] == ["publish_blocked_delta_only", "interval_crosses_zero", "not_reached"]
    assert "not reached" in family_lines(rows)[3]


def test_candidates_that_were_never_finished_keep_their_place_in_the_family(tmp_path: Path) -> None:
    roots = [study(n, w, lost, 10).write(tmp_path / n) for n, w, lost in (("a", 17, 6), ("b", 30, 4))]
    assert [r["alpha_step_exact"] for r in step_down(roots)] == ["0.004", "1/225"]


def test_a_later_look_spends_its_own_share(tmp_path: Path) -> None:
    again = study("again", 30, 4)
    again.campaign["look"] = 2
    rows = step_down([again.write(tmp_path / "again"), study("once", 30, 4).write(tmp_path / "once")])
    assert [(r["candidate"], r["alpha_step_exact"]) for r in rows] == [("once 2.0", "0.02"), ("again 2.0", "0.005")]


def test_what_withholds_a_batch_withholds_its_step_too(tmp_path: Path) -> None:
    bad = study("bad", 40, 2)
    bad.rows("placebo-0", "control")[0].update(verdict="pass", status="passed", passed=1)
    rows = step_down([bad.write(tmp_path / "bad"), study("good", 30, 4).write(tmp_path / "good")])
    assert [(r["decision"], r["reason"]) for r in rows] == [("withhold", "placebo_passed"), ("withhold", "not_reached")]


def test_candidates_tried_are_counted_over_all_studies(tmp_path: Path) -> None:
    one, two = study("one", 30, 4), study("two", 30, 4)
    one.campaign["candidates"], two.campaign["candidates"] = ["one", "third"], ["two"]
    rows = step_down([one.write(tmp_path / "one"), two.write(tmp_path / "two")])
    assert rows[0]["reasons"] == ["family_exceeded"]
    assert rows[1]["reason"] == "not_reached"


def test_studies_that_are_no_family_are_refused(tmp_path: Path) -> None:
    one = study("one", 30, 4).write(tmp_path / "one")
    two = study("two", 30, 4).write(tmp_path / "two")
    other = study("other", 30, 4, min_detectable_effect="0.1").write(tmp_path / "other")
    three = study("three", 30, 4).write(tmp_path / "three")
    with pytest.raises(UsageError, match="two or more"):
        step_down([one])
    with pytest.raises(InputError, match="slice_id"):
        step_down([one, other])
    with pytest.raises(InputError, match="candidate one once more"):
        step_down([one, one])
    with pytest.raises(InputError, match=r"3 studies.*family, 2"):
        step_down([one, two, three])
    with pytest.raises(InputError, match="isn't there"):
        step_down([one, tmp_path])
    edited = json.loads((two / layout.DECISION).read_text()) | {"decision": "publish", "reason": "mine"}
    (two / layout.DECISION).write_text(json.dumps(edited))
    with pytest.raises(InputError, match="isn't what its tables give"):
        step_down([one, two])
