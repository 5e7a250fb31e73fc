"""Preflight of one item on its frozen bytes, before any arm: is its oracle one that a verdict can rest on?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from stages.contract.digest import rational_text
from stages.contract.errors import one_line
from stages.contract.plan import PlanItem
from stages.contract.trees import Entry, overlaid, tree_digest
from stages.oracle.probes import Judge, judged_mutants, noop, remembering
from stages.oracle.store import VerdictStore
from stages.oracle.verdict import Boundary, Observation, observe_item
from stages.sandbox import Isolation

REFERENCE_TRIES = 3
BASELINE_TRIES = 2
_MOST_SAID = 200


class Finding(NamedTuple):
    """What was found without running anything. Without a rule it is a warning: said, and no reason to refuse."""

    check: str
    found: str
    expected: str
    rule: str | None = None
    detail: str = ""


@dataclass
class Admission:
    """What preflight says of an item: admitted, or the rule that refuses it; the evidence as rows of `checks`."""

    item: PlanItem
    rule: str | None = None
    expected: list[str] | None = None
    events: list[str] = field(default_factory=list)
    placebo_passed: bool = False
    boundary: Boundary = "inprocess"
    rows: list[dict[str, Any]] = field(default_factory=list)

    def note(
        self,
        check: str,
        number: int,
        found: str,
        expected: str,
        rule: str | None,
        detail: str,
        wall_s: float,
        warn: bool = False,
    ) -> None:
        """Keep evidence; the first rule that refuses the item stands. A warning isn't ok and refuses nothing."""
        ok = rule is None and not warn
        self.rows.append(
            {
                "item_id": self.item.item_id,
                "check": check,
                "try": number,
                "found": found,
                "expected": expected,
                "ok": ok,
                "rule": rule,
                "detail": detail[:500],
                "observed_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                "wall_s": round(wall_s, 6),
            }
        )
        self.rule = self.rule or rule

    def add(self, finding: Finding) -> None:
        """Keep what was found without running anything."""
        check, found, expected, rule, detail = finding
        self.note(check, 0, found, expected, rule, detail, 0.0, warn=found != expected)

    def warnings(self, check: str) -> list[dict[str, Any]]:
        """Rows of a check that aren't ok and refuse nothing."""
        return [row for row in self.rows if row["check"] == check and not row["ok"] and row["rule"] is None]

    def why(self) -> str:
        """What refused the item, in words."""
        row = next(row for row in self.rows if row["rule"] == self.rule)
        what = {"baseline": "the untouched workspace", "reference": "the reference solution"}.get(
            row["check"], row["check"]
        )
        detail = f" ({row['detail']})" if row["detail"] else ""
        return f"{what}: found {row['found']}, expected {row['expected']}{detail}"

    def entry(self) -> dict[str, Any]:
        """The item's part of admitted.json."""
        return {
            "admitted": self.rule is None,
            "rule": self.rule,
            "expected": self.expected,
            "events": self.events,
            "placebo_passed": self.placebo_passed,
            "boundary": self.boundary,
        }


def admit(
    item: PlanItem,
    files: dict[tuple[str, str], list[Entry]],
    leak: Callable[[], str | None],
    isolation: Isolation,
    boundary: Boundary = "inprocess",
    *,
    known: Iterable[Finding] = (),
    most_surviving: Fraction | None = None,
    store: VerdictStore | None = None,
    environment: Path | None = None,
) -> Admission:
    """Check an item: fixtures, leaked solution, what is `known` of it, and its oracle on trees of every kind.

    These are the reference solution, the untouched workspace, known-wrong solutions, a patch that does nothing, and
    mutants of the solution; with more than the share `most_surviving` of the latter passed the oracle is weak. The
    reference solution establishes which test ids a verdict must hold. Stops at the first rule that refuses.

    Verdicts on mutants are kept in the `store`, and not observed again for the same bytes. `environment` is where the
    item's wheels are installed.
    """
    out = Admission(item, boundary=boundary)
    tree, oracle = files[(item.item_id, "workspace")], files[(item.item_id, "oracle")]
    solution = files.get((item.item_id, "solution"), [])

    def judge(asked: PlanItem, variant: Sequence[Entry]) -> Observation:
        return observe_item(asked, variant, oracle, out.expected, out.events, isolation, tree, boundary, environment)

    def run(variant: Sequence[Entry]) -> Observation:
        return judge(item, variant)

    if item.placebo:
        for finding in known:
            out.add(finding)
        _placebo(out, run, tree)
        return out
    out.note(
        "fixtures",
        0,
        "present" if solution else "no solution/",
        "present",
        None if solution else "missing_fixture",
        "",
        0.0,
    )
    if out.rule:
        return out
    where = leak()
    out.note(
        "leak",
        0,
        "leaked" if where else "none",
        "none",
        "leaked_solution" if where else None,
        where or "",
        0.0,
    )
    for finding in known if out.rule is None else ():
        out.add(finding)
    if out.rule:
        return out
    _reference(out, run, overlaid(tree, solution))
    if out.rule is None:
        _repeat(out, "baseline", run, tree, BASELINE_TRIES, "fail")
    for (owner, role), overlay in sorted(files.items()):
        if out.rule is None and owner == item.item_id and role.startswith("wrong/"):
            _repeat(out, role, run, overlaid(tree, overlay), 1, "fail")
    if out.rule is None:
        _repeat(out, "noop", run, noop(tree, solution), 1, "fail")
    if out.rule is None:
        if isolation.tier == "none":
            why = "without isolation a fault in code that writes or deletes could do harm"
            out.note("mutants", 0, "no mutants", "any", None, why, 0.0)
            return out
        judge_kept = remembering(judge, store, item, oracle, tree, out.expected, out.events, isolation, boundary)
        _mutants(out, judge_kept, tree, solution, most_surviving)
    return out


def _reference(out: Admission, run: Callable[[Sequence[Entry]], Observation], tree: Sequence[Entry]) -> None:
    """Each try must pass. One that never does is broken; one that does now and then is flaky."""
    first = run(tree)
    if first.events and not any(
        one.startswith("product_") for one in first.events
    ):  # what the reference solution itself brings about isn't held against anybody
        out.events = sorted(first.events)
        first = run(tree)
    tried = [first]
    while len(tried) < REFERENCE_TRIES:
        if out.expected is None and tried[-1].verdict == "pass":
            out.expected = sorted(tried[-1].outcomes)
        tried.append(run(tree))
    empty = {one.reason for one in tried} == {"no_tests"}
    rule = _rule({one.verdict for one in tried}, "pass", "missing_fixture" if empty else "oracle_broken")
    for number, one in enumerate(tried):
        detail = one.reason if one.verdict == "pass" else _told(one)
        detail += "" if number else f"; tree {tree_digest(tree)[:16]}"
        out.note("reference", number, one.verdict, "pass", None if one.verdict == "pass" else rule, detail, one.wall_s)


def _repeat(
    out: Admission,
    check: str,
    run: Callable[[Sequence[Entry]], Observation],
    tree: Sequence[Entry],
    tries: int,
    expected: str,
) -> None:
    """The same bytes several times: another verdict than expected is broken, one that varies is flaky."""
    tried = [run(tree) for _ in range(tries)]
    rule = _rule({one.verdict for one in tried}, expected, "oracle_broken")
    for number, one in enumerate(tried):
        ok = one.verdict == expected
        detail = one.reason if ok or one.verdict in ("pass", "fail") else _told(one)
        out.note(check, number, one.verdict, expected, None if ok else rule, detail, one.wall_s)


def _told(one: Observation) -> str:
    """Why a tree didn't pass: the first test that failed, and what the oracle said, one line of its output's tail."""
    failed = next((test for test, outcome in sorted(one.outcomes.items()) if outcome != "passed"), None)
    lines = [line.strip() for line in one.output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("E ")]
    said = errors[0].removeprefix("E ").strip() if errors else " | ".join(lines)[-_MOST_SAID:]
    told = [one.reason, f"first {one_line(failed, 100)}" if failed else "", one_line(said, _MOST_SAID)]
    return "; ".join(part for part in told if part)


def _rule(seen: set[str], expected: str, otherwise: str) -> str | None:
    """What the verdicts on the same bytes say of the oracle."""
    return None if seen == {expected} else "oracle_flaky" if len(seen) > 1 else otherwise


def _mutants(
    out: Admission,
    judge: Judge,
    tree: Sequence[Entry],
    solution: Sequence[Entry],
    most: Fraction | None,
) -> None:
    """Small faults in the reference solution should end in anything but a pass. Only the share that passes refuses."""
    took = max(float(row["wall_s"]) for row in out.rows if row["check"] == "reference")
    passed, number = 0, 0
    for label, seen in judged_mutants(out.item, tree, solution, took, judge):
        if seen is None:
            out.note("mutants", 0, "no mutants", "any", None, label, 0.0)
            return
        survives = seen.verdict == "pass"
        passed, number = passed + survives, number + 1
        out.note("mutant", number - 1, seen.verdict, "fail", None, label, seen.wall_s, warn=survives)
    weak = most is not None and Fraction(passed, number) > most
    expected = "any" if most is None else f"a share of at most {rational_text(most)}"
    rule = "oracle_weak" if weak else None
    out.note("mutants", 0, f"{passed} of {number} mutants pass", expected, rule, "", 0.0)


def _placebo(out: Admission, run: Callable[[Sequence[Entry]], Observation], tree: Sequence[Entry]) -> None:
    """A placebo must fail, and what fails are its tests, not its collection."""
    for number in range(BASELINE_TRIES):
        one = run(tree)
        if number == 0:
            out.expected, out.events = sorted(one.outcomes) or None, sorted(one.events)
        out.placebo_passed = out.placebo_passed or one.verdict == "pass"
        rule = None if one.verdict in ("fail", "pass") else "oracle_broken"
        out.note("placebo", number, one.verdict, "fail", rule, one.reason, one.wall_s)
