"""Suspicion per line: the Ochiai coefficient of the visible tests, spread to what coverage can't see."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from math import log, sqrt

from common.project import Project
from common.runner import Result
from common.source import Source, last_name
from common.statement import Hints
from common.task import Task

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")

Levels = dict[str, list[float]]


def suspicion(project: Project, results: Sequence[Result], task: Task, hints: Hints) -> Levels:
    """Return a level >= 0 per line (index 0 unused) of every parsed file that isn't a test.

    Lines that no failing test reaches get 0, unless they are headers, constants or branches of suspected
    code, or the function that the task pins. What the statement names counts for more, what it asks to keep
    for less.
    """
    levels: Levels = {}
    failed = [result for result in results if not result.passed]
    passed = [result for result in results if result.passed]
    for source in project.code():
        found = [0.0] * (len(source.lines) + 2)
        hit = [set(result.lines.get(source.path, ())) for result in failed]
        good = [set(result.lines.get(source.path, ())) for result in passed]
        inside = {n for item in source.functions for n in range(item.body[0].lineno, item.end_lineno + 1)}
        for line in set().union(*hit) & inside:
            both = sum(line in lines for lines in hit)
            seen = both + sum(line in lines for lines in good)
            found[line] = both / sqrt(len(failed) * seen)
        levels[source.path] = found
    for result in failed:
        inner = [place for place in result.places if place[0] in levels]
        for path, line in inner[-1:]:
            levels[path][line] = 1.3 * max(levels[path][line], 0.5)
    pinned = (task.module or "").replace(".", "/")
    function = (task.function or "").rsplit(".", 1)[-1]
    for source in project.code():
        _spread(source, levels[source.path])
        at_home = bool(pinned) and source.path.removesuffix(".py").removesuffix("/__init__").endswith(pinned)
        _favour(source, levels[source.path], hints, function if at_home else "")
    _retrieve(project, levels, hints)
    _constants(project, levels)
    return levels


def _retrieve(project: Project, levels: Levels, hints: Hints) -> None:
    """Scale functions by the share of their rarer words in the statement, from 0.75 to 1.35 for the most."""
    stems = {word[:5] for word in hints.words if len(word) > 2}
    bags = {
        (source.path, function): {w.lower()[:5] for w in _WORDS.findall(source.text(function)) if len(w) > 2}
        for source in project.code()
        for function in source.functions
    }
    counts = Counter(stem for bag in bags.values() for stem in bag)
    rarity = {stem: log(1 + len(bags) / count) for stem, count in counts.items()}
    shares = {
        key: sum(rarity[stem] for stem in bag & stems) / sqrt(1 + sum(rarity[stem] for stem in bag))
        for key, bag in bags.items()
    }
    most = max(shares.values(), default=0.0) or 1.0
    for (path, function), share in shares.items():
        for line in range(function.lineno, function.end_lineno + 1):
            levels[path][line] *= 0.75 + 0.6 * share / most


def _spread(source: Source, found: list[float]) -> None:
    """Give all lines of a statement its level; headers and untaken branches a share of their function's."""
    for node in source.nodes:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
            last = max(last, node.lineno)
            level = max(found[node.lineno : last + 1])
            found[node.lineno : last + 1] = [level] * (last + 1 - node.lineno)
    for function in source.functions:
        inside = range(function.body[0].lineno, function.end_lineno + 1)
        most = max(found[line] for line in inside)
        first = min([function.lineno, *(item.lineno for item in function.decorator_list)])
        for line in range(first, function.body[0].lineno):
            found[line] = max(found[line], 0.8 * most)
        for line in inside:
            found[line] = max(found[line], 0.15 * most)


def _favour(source: Source, found: list[float], hints: Hints, pinned: str) -> None:
    if source.path.removesuffix(".py").rsplit("/", 1)[-1] in hints.kept:
        found[:] = [0.2 * level for level in found]
    for function in source.functions:
        for line in range(function.lineno, function.end_lineno + 1):
            if function.name == pinned:
                found[line] = max(0.3, 1.25 * found[line])
            elif function.name in hints.kept:
                found[line] *= 0.2
            elif function.name in hints.names:
                found[line] *= 1.15


def _constants(project: Project, levels: Levels) -> None:
    """Give an assignment outside functions a share of the highest level of a line that uses its names."""
    uses: dict[str, float] = {}
    for source in project.code():
        for node in source.nodes:
            name = last_name(node)
            if name:
                uses[name] = max(uses.get(name, 0.0), levels[source.path][node.lineno])
    for source in project.code():
        found = levels[source.path]
        for node in source.nodes:
            if not isinstance(node, ast.Assign | ast.AnnAssign) or source.function_of(node):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            level = max(
                (uses.get(target.id, 0.0) for target in targets if isinstance(target, ast.Name)), default=0.0
            )
            for line in range(node.lineno, node.end_lineno + 1):
                found[line] = max(found[line], 0.7 * level)
