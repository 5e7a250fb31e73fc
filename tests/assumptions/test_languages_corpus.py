"""Precision and recall of the ledger outside Python, on patches whose findings were written down by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from assumptions_corpus import Case, entries, written
from languages_corpus import CASES, MISSES, TREE

from stages.assumptions import examine

ALL = [pytest.param(case, id=f"{language}: {case.name}") for language, cases in CASES.items() for case in cases]
MISSED = [pytest.param(case, id=f"{language}: {case.name}") for language, cases in MISSES.items() for case in cases]


def found(case: Case) -> Counter[str]:
    changes = [written(p, t, TREE) for p, t in {case.path: case.text, **case.others}.items()]
    ledger = examine(entries(TREE), changes, case.allow, None)
    assert all(f.how for f in ledger.findings)
    mine = [f for f in ledger.findings if f.path == case.path]
    return Counter(f"{'note ' * (f.counted == 'note')}{f.kind} {f.symbol} {f.line}" for f in mine)


@pytest.mark.parametrize("case", ALL)
def test_a_patch_gives_the_findings_that_a_person_wrote_down(case: Case) -> None:
    assert found(case) == Counter(case.expected)


@pytest.mark.parametrize("case", MISSED)
def test_a_known_miss_is_still_one(case: Case) -> None:
    """One that is found by now belongs among the others."""
    assert Counter(case.expected) - found(case)


def test_precision_and_recall_are_measured_with_the_known_misses(capsys: pytest.CaptureFixture[str]) -> None:
    rows = []
    for language, cases in CASES.items():
        right = wrong = missed = 0
        for case in [*cases, *MISSES[language]]:
            got, expected = found(case), Counter(case.expected)
            right += sum((got & expected).values())
            wrong += sum(n for what, n in (got - expected).items() if case in cases or not what.startswith("opaque"))
            missed += sum((expected - got).values())
        precision, recall = right / (right + wrong), right / (right + missed)
        rows.append(f"{language:<12}{len(cases) + len(MISSES[language]):>4} cases  {right} right, {wrong} wrong, ")
        rows[-1] += f"{missed} missed: precision {precision:.3f}, recall {recall:.3f}"
        assert precision >= 0.95
        assert recall >= 0.9
    with capsys.disabled():
        print("\n" + "\n".join(rows))


@pytest.mark.parametrize("language", CASES)
def test_every_language_has_cases_enough_and_a_third_of_them_clean(language: str) -> None:
    cases = CASES[language]
    clean = [case for case in cases if all(e.startswith("note") for e in case.expected)]
    assert len(cases) >= 15
    assert 3 * len(clean) >= len(cases)
    assert len({case.name for case in cases}) == len(cases)
