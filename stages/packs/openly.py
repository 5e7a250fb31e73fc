"""Whether the hidden tests can be read where the agent looks."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence

from stages.contract.task import Oracle
from stages.contract.trees import LINK, Entry
from stages.packs.leak import LEAST_CHARS, holds, lines_of, open_places


def open_oracle(
    oracle: Sequence[Entry], settings: Oracle, tree: Sequence[Entry], statement: bytes
) -> tuple[int, int, str | None]:
    """(tests that can be read, tests that were looked for, where the first one stands).

    A test is a function of a pytest file whose name begins with `test`; where there is none, and for commands, each
    file that judges is one. Oracles that are shorter than LEAST_CHARS in all are what anybody would write, and aren't
    looked for. That a hidden test stands in the workspace is a leak only if all of them do: old tests may well be
    asked for again.
    """
    tests = [(name, run) for name, run in _tests(oracle, settings) if run]
    if sum(len(line) for _, run in tests for line in run) < LEAST_CHARS:
        return 0, 0, None
    places = open_places(tree, statement)
    first, read = None, 0
    for name, run in tests:
        where = next((place for place, lines in places if holds(lines, run)), None)
        if where is not None:
            read, first = read + 1, first or f"{name} stands in {where}"
    return read, len(tests), first


def starred(oracle: Sequence[Entry], tree: Sequence[Entry]) -> str | None:
    """Where an oracle's file imports `*` from a module of the tree, which could then name what the tests check with."""
    tops = {entry.path.split("/")[0].removesuffix(".py") for entry in tree if entry.path.endswith(".py")}
    for entry in oracle:
        found = None if entry.mode == LINK or not entry.path.endswith(".py") else _parsed(entry.content)
        for node in ast.walk(found) if found is not None else ():
            if not isinstance(node, ast.ImportFrom) or node.level or node.names[0].name != "*":
                continue
            if (node.module or "").partition(".")[0] in tops:
                return f"{entry.path}:{node.lineno} imports * from {node.module}"
    return None


def _tests(oracle: Sequence[Entry], settings: Oracle) -> Iterator[tuple[str, list[str]]]:
    """(name, comparable lines) of what judges."""
    files = [e for e in oracle if e.mode != LINK]
    if settings.kind == "command":
        named = [e for e in files if any(word.endswith(e.path) for word in settings.command or [])] or files
        yield from ((e.path, lines_of(e.content)) for e in named)
        return
    for entry in files:
        if not entry.path.endswith(".py"):
            continue
        for name, text in _functions(entry.content):
            yield f"{entry.path}::{name}", lines_of(text)


def _functions(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and source of each test function, decorators included; none where the file is no Python."""
    found = _parsed(content)
    if found is None:
        return
    lines = content.splitlines(keepends=True)
    for node in ast.walk(found):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield node.name, b"".join(lines[start - 1 : node.end_lineno])


def _parsed(content: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is the author's business
            return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None
