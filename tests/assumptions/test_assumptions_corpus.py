"""Precision and recall of the ledger on patches whose findings were written down by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from assumptions_corpus import CASES, CLEAN, TREE, Case, entries, written

from stages.assumptions import examine


def found(case: Case) -> Counter[str]:
    changes = [written(case.path, case.text), *(written(p, t) for p, t in case.others.items())]
    ledger = examine(entries(TREE), changes, case.allow, None)
    assert all(f.path == case.path for f in ledger.findings)
    assert all(f.how for f in ledger.findings)
    return Counter(f"{'note ' * (f.counted == 'note')}{f.kind} {f.symbol} {f.line}" for f in ledger.findings)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_patch_gives_the_findings_that_a_person_wrote_down(case: Case) -> None:
    assert found(case) == Counter(case.expected)


def test_precision_and_recall_over_the_corpus_are_one(capsys: pytest.CaptureFixture[str]) -> None:
    right = wrong = missed = 0
    for case in CASES:
        got, expected = found(case), Counter(case.expected)
        right += sum((got & expected).values())
        wrong += sum((got - expected).values())
        missed += sum((expected - got).values())
    with capsys.disabled():
        print(f"\nPython      {len(CASES):>4} cases  {right} right, {wrong} wrong, {missed} missed: ", end="")
        print(f"precision {right / (right + wrong):.3f}, recall {right / (right + missed):.3f}")
    assert (wrong, missed) == (0, 0)
    assert right >= 90


def test_the_corpus_is_large_and_over_a_third_of_it_is_clean() -> None:
    clean = [case for case in CASES if all(e.startswith("note") for e in case.expected)]
    assert len(CASES) >= 60
    assert 3 * len(clean) >= 3 * len(CLEAN) >= len(CASES)
    assert len({case.name for case in CASES}) == len(CASES)
