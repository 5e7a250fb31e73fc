"""Generate and validate: rank candidate edits, try them on the visible tests, keep and climb."""

from __future__ import annotations

import heapq
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import exp
from random import Random

from common.context import Context, Operator
from common.edits import Edit, apply, joined
from common.project import Project
from common.runner import Result, Runner
from common.spectrum import suspicion
from common.statement import Hints
from common.task import Task

MAX_CANDIDATES = 6000
MAX_STUCK = 8
MAX_PLAUSIBLE = 6
WALL_S = 60.0


@dataclass(frozen=True)
class Settings:
    """What tells one agent from another. `budget` counts evaluated candidates, of all rounds together.

    Once a candidate makes some failing tests pass, `patience` more are evaluated before the best is kept;
    once one makes all pass, `second_looks` more. `joined` adds the same change in all places of a file.
    `spread` and `mood` are the logarithmic spreads of a candidate's and an operator's luck.
    """

    operators: Sequence[tuple[Operator, float]]
    budget: int
    rounds: int = 1
    patience: int = 0
    second_looks: int = 0
    joined: bool = False
    spread: float = 0.3
    mood: float = 0.0


@dataclass
class Outcome:
    """The result: new bytes by path, whether all visible tests pass, and the log."""

    changed: dict[str, bytes] = field(default_factory=dict)
    solved: bool = False
    log: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Found:
    """An edit that came nearer without breaking a test that passed."""

    edit: Edit
    changed: dict[str, bytes]
    results: list[Result]
    passes: int
    gain: float


class Search:
    """One search over one workspace. What it decides follows from the tree, the task and the seed."""

    def __init__(self, task: Task, project: Project, hints: Hints, settings: Settings, rng: Random) -> None:
        self.task, self.project, self.hints = task, project, hints
        self.settings, self.rng = settings, rng
        self.runner = Runner(project)
        self.outcome = Outcome()
        self.tried: set[int] = set()
        self.spent = self.stuck = 0
        self.end = time.monotonic() + WALL_S
        self.moods = {id(op): rng.lognormvariate(0, settings.mood) for op, _ in settings.operators}

    def run(self) -> Outcome:
        """Search until the visible tests pass, the budget is spent, or nothing helps any more."""
        if not self.runner.tests:
            self.outcome.log.append("no visible tests")
            return self.outcome
        base = self._baseline()
        start = sum(result.passed for result in base)
        self.outcome.log.append(f"{start} of {len(base)} visible tests pass")
        passes = start
        adopted: list[tuple[int, dict[str, bytes]]] = []
        for number in range(self.settings.rounds):
            if passes == len(base):
                break
            allowed = self._allowance(self.settings.rounds - number)
            found = self._round(base, allowed)
            if found is None:
                break
            place = f"{found.edit.path}:{found.edit.line}" if found.edit.path else "all files"
            self.outcome.log.append(f"kept {found.edit.operator} at {place}, {found.passes} pass")
            self.project.refresh(found.changed)
            self.runner.accept(found.changed)
            adopted.append((found.passes, found.changed))
            base = self._baseline()
            passes = sum(result.passed for result in base)
        self._keep(adopted, start, len(base))
        self.outcome.log.append(f"{self.spent} candidates evaluated")
        return self.outcome

    def _keep(self, adopted: list[tuple[int, dict[str, bytes]]], start: int, total: int) -> None:
        """Keep what was adopted up to the last step that made one more visible test pass."""
        best = start
        pending: dict[str, bytes] = {}
        for passes, changed in adopted:
            pending |= changed
            if passes > best:
                best = passes
                self.outcome.changed |= pending
                pending = {}
        self.outcome.solved = best == total

    def _baseline(self) -> list[Result]:
        order = range(len(self.runner.tests))
        results = self.runner.run(order, {}, None)
        while len(results) < len(order):
            rest = range(len(results) + 1, len(order))
            results.append(Result(False, 0.0, "Stopped"))
            results += self.runner.run(rest, {}, None)
        return results

    def _allowance(self, rounds_left: int) -> int:
        left = self.settings.budget - self.spent
        return left if rounds_left == 1 else max(left * 3 // 4, min(left, 10))

    def _round(self, base: list[Result], allowed: int) -> Found | None:
        """Return the best of the edits that make most tests pass, else the one that came nearest."""
        levels = suspicion(self.project, base, self.task, self.hints)
        context = Context(self.task, self.project, self.hints, base, levels, self.rng)
        order = sorted(range(len(base)), key=lambda index: base[index].passed)
        before = sum(result.passed for result in base)
        found: list[tuple[float, Found]] = []
        end, most = self.settings.budget, before
        for prior, edit in self._ranked(context):
            if self.spent >= end or self.stuck >= MAX_STUCK or time.monotonic() > self.end:
                break
            better = self._evaluate(edit, base, order)
            if better is None:
                continue
            if better.passes > most or not found:
                settings, full = self.settings, better.passes == len(base)
                patience = settings.second_looks if full else settings.patience
                end = min(end, self.spent + (patience if better.passes > before else allowed))
                most = better.passes
            found.append((prior, better))
            if sum(item.passes == len(base) for _, item in found) > MAX_PLAUSIBLE or self.spent >= end:
                break
        best = max(((item.passes, item.passes == before and item.gain) for _, item in found), default=None)
        equal = [it for it in found if (it[1].passes, it[1].passes == before and it[1].gain) == best]
        return self._choose(equal, base)

    def _evaluate(self, edit: Edit, base: list[Result], order: list[int]) -> Found | None:
        changed = apply(self.project.files, edit)
        if changed is None:
            return None
        key = hash(tuple(sorted(changed.items())))
        codes = self.runner.compiled(changed)
        if key in self.tried or codes is None:
            return None
        self.tried.add(key)
        self.spent += 1
        results = self.runner.run(order, codes, base)
        tested = dict(zip(order, results, strict=False))
        gain = sum(max(0.0, result.score - base[index].score) for index, result in tested.items())
        if len(tested) < len(order):
            self.stuck += bool(len(tested) < sum(not result.passed for result in base))
            return None
        if gain < 0.001 or any(base[index].passed and not result.passed for index, result in tested.items()):
            return None
        ordered = [tested[index] for index in range(len(base))]
        return Found(edit, changed, ordered, sum(result.passed for result in ordered), gain)

    def _ranked(self, context: Context) -> list[tuple[float, Edit]]:
        """Return (prior, candidate), most promising first; near equals in an order that the seed decides.

        Within an operator the later ones count less and less, so that none takes all of the budget.
        The prior is free of luck.
        """
        ranked: list[tuple[float, int, float, Edit]] = []
        for operator, weight in self.settings.operators:
            edits = list(islice(operator(context), MAX_CANDIDATES))
            if self.settings.joined:
                edits += joined(self.project.files, edits)
            scored: list[tuple[float, float, Edit]] = []
            for edit in edits:
                level = context.level(edit.path, edit.line) if edit.path else 1.2
                prior = weight * level * edit.weight
                scored.append((prior * self.rng.lognormvariate(0, self.settings.spread), prior, edit))
            scored.sort(key=lambda item: -item[0])
            mood = self.moods[id(operator)]
            for number, (score, prior, edit) in enumerate(scored):
                ranked.append((-score * mood * 0.99**number, len(ranked), prior, edit))
        return [(prior, edit) for _, _, prior, edit in heapq.nsmallest(self.settings.budget * 6, ranked)]

    def _choose(self, plausible: list[tuple[float, Found]], base: list[Result]) -> Found | None:
        """Return the candidate with the best prior, less what it changes in the tests that passed before.

        After PATCH-SIM (Xiong and others, 2018): a right patch hardly changes the runs of passing tests.
        """
        if len(plausible) < 2:
            return plausible[0][1] if plausible else None
        passed = [index for index, result in enumerate(base) if result.passed]
        before = self._lines(base, self.project.files, passed)

        def merit(item: tuple[float, Found]) -> float:
            results = self.runner.run(range(len(base)), self.runner.compiled(item[1].changed) or {}, None)
            if len(results) < len(base):
                return 0.0
            after = self._lines(results, {**self.project.files, **item[1].changed}, passed)
            return item[0] * exp(-6 * len(before ^ after) / max(1, len(before | after)))

        return max(plausible, key=merit)[1]

    @staticmethod
    def _lines(
        results: list[Result], files: Mapping[str, bytes], chosen: list[int]
    ) -> set[tuple[int, str, bytes]]:
        """Return the text of every line that these tests run."""
        found: set[tuple[int, str, bytes]] = set()
        for index in chosen:
            for path, lines in results[index].lines.items():
                texts = files.get(path, b"").splitlines()
                found |= {(index, path, texts[line - 1].strip()) for line in lines if 0 < line <= len(texts)}
        return found
