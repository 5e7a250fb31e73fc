"""What counts is derived from the ledger each time: a table that was edited by hand between stages is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stages.contract import layout, parquet, tables
from stages.contract.design import summary_units
from stages.contract.errors import InputError
from stages.contract.protocol import Protocol
from stages.contract.types import validate
from stages.gate import decide_study, read_evidence
from stages.stats import mde80
from tests.gate.builder import Item, clear_effect, make_study, outcomes, placebos


def edit(root: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], name: str = "pairs") -> None:
    path = root / {"pairs": layout.PAIRS, "exclusions": layout.EXCLUSIONS}[name]
    rows = parquet.read(path, tables.ALL[name]).to_pylist()
    parquet.write(path, parquet.table(tables.ALL[name], change(rows)))


def test_a_folder_gives_the_decision_that_was_written(tmp_path: Path) -> None:
    study = make_study([*outcomes("left", 18, 8, 80), *placebos()])
    study.stamp("left-000", "control", queue_ms=9000.0)
    study.event("oracle_flaky", "left-030", before=True)
    root = study.write(tmp_path)
    assert decide_study(read_evidence(root)) == study.decide()


def won(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**r, "candidate": 1, "candidate_status": "passed"} if r["item_id"] == "left-010" else r for r in rows]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (won, r"left-010, 0: candidate 1; expected 0, as ledger and rules give"),
        (lambda rows: rows[1:], r"left-000, 0: no such row"),
        (lambda rows: [*rows, {**rows[0], "item_id": "more"}], r"more, 0: a row"),
        (lambda rows: [{**rows[0], "kept": False}, *rows[1:]], r"left-000, 0: kept False"),
        (lambda rows: [{**rows[0], "control_rule": "queue_delay"}, *rows[1:]], r"control_rule queue_delay"),
    ],
)
def test_an_edited_table_of_pairs_is_refused(change: Any, words: str, tmp_path: Path) -> None:
    root = make_study(clear_effect()).write(tmp_path)
    edit(root, change)
    with pytest.raises(InputError, match=words) as caught:
        read_evidence(root)
    assert "run `dvc repro exclude`" in str(caught.value)


def test_an_exclusion_that_was_taken_out_of_the_table_is_missed(tmp_path: Path) -> None:
    study = make_study(clear_effect())
    study.event("leaked_solution", "left-000")
    root = study.write(tmp_path)
    assert "posthoc_exclusion" in decide_study(read_evidence(root))["reasons"]
    edit(root, lambda _: [], "exclusions")
    with pytest.raises(InputError, match=r"exclusions.parquet: 1: no such row"):
        read_evidence(root)


def test_the_planned_mde80_knows_of_clusters_and_of_later_looks() -> None:
    """By hand for one stratum of 40 items in clusters of 4: V = (tau^2 + omega^2 / k + .04 * 4) / 40."""
    protocol = validate(Protocol, {}, "p")
    labels = [("left", f"c{n // 4}") for n in range(40)]
    items, units, crowds, shares = summary_units(protocol, labels)
    assert (items, units, crowds, shares) == ([40], [10], [4.0], [1])
    alone = summary_units(protocol, [("left", None)] * 40)
    assert (alone[1], alone[2]) == ([40], [1.0])
    study = make_study([Item(f"i{n:02}", "left", "PF", "FF", f"c{n // 4}") for n in range(40)] + placebos(1, 2))
    study.campaign["look"] = 2
    planned = study.decide()["summary"]["mde80_planned"]
    alpha = study.manifest.protocol.alpha / 10
    assert planned == mde80(items, shares, 2, alpha, units=units, crowds=crowds)
    without = mde80([40], shares, 2, alpha)
    assert planned is not None
    assert without is not None
    assert planned > without
    assert study.manifest.mde80 == 0.04, "the first look's figure is freeze's"
