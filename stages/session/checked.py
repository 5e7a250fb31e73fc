"""What the check of a log of stamps found: problems by line, trials by rule, a summary per arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from stages.contract.errors import one_line

MOST = 1000
ARMS = ("candidate", "control")

Place = tuple[str, str, int]


@dataclass(frozen=True)
class Problem:
    """What is wrong with a line (0: with a trial as a whole), by the gate's rule, `unreadable`, or `note`."""

    line: int
    rule: str
    found: str


@dataclass
class Checked:
    """What a log holds. `problems` are the first of `total`; `rules` are what each trial breaks.

    `absent` is how many trials of the plan have no stamp; None without a plan.
    """

    lines: int = 0
    stamps: int = 0
    unreadable: int = 0
    invalid: int = 0
    total: int = 0
    problems: list[Problem] = field(default_factory=list)
    attempts: dict[Place, list[tuple[int, datetime]]] = field(default_factory=dict)
    rules: dict[Place, set[str]] = field(default_factory=dict)
    nowhere: Counter[str] = field(default_factory=Counter)
    absent: int | None = None

    @property
    def exit_code(self) -> int:
        """2 where a line couldn't be read or is against the schema, 1 where a stamp lies outside, else 0."""
        outside = any(self.rules.values()) or any(self.nowhere.values())
        return 2 if self.unreadable or self.invalid else 1 if outside else 0

    def add(self, line: int, rule: str, found: str, place: Place | None = None) -> None:
        """Note a problem of a line, and of its trial where that is known."""
        self.total += 1
        if len(self.problems) < MOST:
            self.problems.append(Problem(line, rule, one_line(found, 600)))
        if rule == "note":
            return
        if place is not None:
            self.rules.setdefault(place, set()).add(rule)
        elif rule != "unreadable":
            self.nowhere[rule] += 1

    def summary(self) -> dict[str, Any]:
        """Per arm: stamps, trials, trials all of whose attempts lie inside, and trials by the rule that they break."""
        arms: dict[str, Any] = {}
        for arm in ARMS:
            trials = {p for p in (*self.attempts, *self.rules) if p[1] == arm}
            by_rule = Counter(rule for p in trials for rule in self.rules.get(p, ()))
            arms[arm] = {
                "stamps": sum(len(self.attempts.get(p, ())) for p in trials),
                "trials": len(trials),
                "inside": sum(not self.rules.get(p) for p in trials),
                "rules": dict(sorted(by_rule.items())),
            }
        counted = {"lines": self.lines, "stamps": self.stamps, "unreadable": self.unreadable, "invalid": self.invalid}
        whole = {**counted, "absent": self.absent, "problems": self.total}
        return {**whole, "no_trial": dict(sorted(self.nowhere.items())), "arms": arms}

    def shown(self) -> dict[str, Any]:
        """All of it as JSON-ready data."""
        return {**self.summary(), "found": [vars(p) for p in self.problems], "exit_code": self.exit_code}


def check_lines(checked: Checked) -> Iterator[str]:
    """For people: a line per problem, then a row per arm."""
    for one in checked.problems:
        where = f"line {one.line}: " if one.line else ""
        yield f"{where}{one.rule}: {one.found}"
    if checked.total > len(checked.problems):
        yield f"and {checked.total - len(checked.problems)} more"
    whole = checked.summary()
    kinds = (("stamps", "stamps"), ("unreadable", "unreadable"), ("invalid", "against the schema"))
    yield f"{whole['lines']} lines: " + ", ".join(f"{whole[key]} {words}" for key, words in kinds)
    for arm, row in whole["arms"].items():
        rules = "; ".join(f"{rule} {count}" for rule, count in row["rules"].items())
        yield f"{arm}: {row['stamps']} stamps, {row['inside']} of {row['trials']} trials inside{rules and f'; {rules}'}"
    if checked.absent:
        yield f"{checked.absent} trials of the plan have no stamp here"
    if whole["no_trial"]:
        yield "of no trial: " + "; ".join(f"{rule} {count}" for rule, count in whole["no_trial"].items())
