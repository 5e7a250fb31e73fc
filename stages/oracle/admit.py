"""Preflight of one item on its frozen bytes, before any arm: is its oracle one that a verdict can rest on?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from stages.contract.plan import PlanItem
from stages.contract.trees import Entry, tree_digest
from stages.oracle.verdict import Observation, observe_item
from stages.sandbox import Isolation

REFERENCE_TRIES = 3
BASELINE_TRIES = 2


@dataclass
class Admission:
    """What preflight says of an item: admitted, or the rule that refuses it; the evidence as rows of `checks`."""

    item: PlanItem
    rule: str | None = None
    expected: list[str] | None = None
    events: list[str] = field(default_factory=list)
    placebo_passed: bool = False
    rows: list[dict[str, Any]] = field(default_factory=list)

    def note(
        self, check: str, number: int, found: str, expected: str, rule: str | None, detail: str, wall_s: float
    ) -> None:
        """Keep evidence; the first rule that refuses the item stands."""
        ok = rule is None
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
        }


def overlaid(tree: Sequence[Entry], overlay: Sequence[Entry]) -> list[Entry]:
    """The tree with whole files laid over it."""
    laid = {**{e.path: e for e in tree}, **{e.path: e for e in overlay}}
    return [laid[path] for path in sorted(laid)]


def admit(
    item: PlanItem,
    files: dict[tuple[str, str], list[Entry]],
    leak: Callable[[], str | None],
    isolation: Isolation,
) -> Admission:
    """Check an item: fixtures, leaked solution, oracle on reference, baseline and known-wrong solutions.

    The reference solution establishes which test ids a verdict must hold. Stops at the first rule that refuses.
    """
    out = Admission(item)
    tree, oracle = files[(item.item_id, "workspace")], files[(item.item_id, "oracle")]
    solution = files.get((item.item_id, "solution"), [])

    def run(variant: Sequence[Entry]) -> Observation:
        return observe_item(item, variant, oracle, out.expected, out.events, isolation, tree)

    if item.placebo:
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
    if out.rule:
        return out
    _reference(out, run, overlaid(tree, solution))
    if out.rule is None:
        _repeat(out, "baseline", run, tree, BASELINE_TRIES, "fail")
    for (owner, role), overlay in sorted(files.items()):
        if out.rule is None and owner == item.item_id and role.startswith("wrong/"):
            _repeat(out, role, run, overlaid(tree, overlay), 1, "fail")
    return out


def _reference(out: Admission, run: Callable[[Sequence[Entry]], Observation], tree: Sequence[Entry]) -> None:
    first = run(tree)
    if first.events:  # what the reference solution itself brings about isn't held against anybody
        out.events = sorted(first.events)
        first = run(tree)
    rule = None if first.verdict == "pass" else "missing_fixture" if first.reason == "no_tests" else "oracle_broken"
    out.note("reference", 0, first.verdict, "pass", rule, f"{first.reason} {tree_digest(tree)[:16]}", first.wall_s)
    if rule is None:
        out.expected = sorted(first.outcomes)
        _repeat(out, "reference", run, tree, REFERENCE_TRIES - 1, "pass", start=1)


def _repeat(
    out: Admission,
    check: str,
    run: Callable[[Sequence[Entry]], Observation],
    tree: Sequence[Entry],
    tries: int,
    expected: str,
    start: int = 0,
) -> None:
    """The same bytes several times: another verdict than expected is broken, one that varies is flaky."""
    tried = [run(tree) for _ in range(tries)]
    seen = {one.verdict for one in tried} | ({expected} if start else set())
    rule = None if seen == {expected} else "oracle_flaky" if len(seen) > 1 else "oracle_broken"
    for number, one in enumerate(tried, start):
        ok = one.verdict == expected
        out.note(check, number, one.verdict, expected, None if ok else rule, one.reason, one.wall_s)


def _placebo(out: Admission, run: Callable[[Sequence[Entry]], Observation], tree: Sequence[Entry]) -> None:
    """A placebo must fail, and what fails are its tests, not its collection."""
    for number in range(BASELINE_TRIES):
        one = run(tree)
        if number == 0:
            out.expected, out.events = sorted(one.outcomes) or None, sorted(one.events)
        out.placebo_passed = out.placebo_passed or one.verdict == "pass"
        rule = None if one.verdict in ("fail", "pass") else "oracle_broken"
        out.note("placebo", number, one.verdict, "fail", rule, one.reason, one.wall_s)
