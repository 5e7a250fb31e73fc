"""Candidate edits: replaced byte spans of one or more files, applied without touching other text."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from common.source import Source


class Part(NamedTuple):
    """Bytes `start`..`end` of `path` are replaced by `text`."""

    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Edit:
    """One candidate. `line` of `path` is where suspicion is looked up, `weight` its share in its operator."""

    operator: str
    path: str
    line: int
    parts: tuple[Part, ...]
    weight: float = 1.0


def replace(source: Source, node: ast.AST, text: str, operator: str, weight: float = 1.0) -> Edit:
    """Return the edit that puts `text` in place of a node."""
    return Edit(operator, source.path, node.lineno, (Part(source.path, *source.span(node), text),), weight)


def insert_before(
    source: Source, statement: ast.stmt, lines: str, operator: str, weight: float = 1.0
) -> Edit:
    """Return the edit that puts `lines` (unindented) before a statement."""
    return _insert(source, statement, source.block(statement)[0], lines, operator, weight)


def insert_after(source: Source, statement: ast.stmt, lines: str, operator: str, weight: float = 1.0) -> Edit:
    """Return the edit that puts `lines` (unindented) after a statement."""
    return _insert(source, statement, source.block(statement)[1], lines, operator, weight)


def _insert(source: Source, statement: ast.stmt, at: int, lines: str, operator: str, weight: float) -> Edit:
    indent = source.indent(statement)
    text = "".join(f"{indent}{line}\n" for line in lines.split("\n"))
    if at and not source.data[:at].endswith(b"\n"):
        text = "\n" + text
    return Edit(operator, source.path, statement.lineno, (Part(source.path, at, at, text),), weight)


def delete(source: Source, statement: ast.stmt, operator: str, weight: float = 1.0) -> Edit:
    """Return the edit that removes a statement; `pass` stays where its block would be empty."""
    above = source.parents[statement]
    blocks = [getattr(above, field, None) for field in ("body", "orelse", "finalbody")]
    alone = any(isinstance(block, list) and block == [statement] for block in blocks)
    if alone or not source.owns_lines(statement):
        return replace(source, statement, "pass", operator, weight)
    part = Part(source.path, *source.block(statement), "")
    return Edit(operator, source.path, statement.lineno, (part,), weight)


def needs_import(source: Source, module: str) -> tuple[Part, ...]:
    """Return the part that imports `module` at the top of a file; nothing where it is imported already."""
    last: ast.stmt | None = None
    for index, node in enumerate(source.tree.body):
        if isinstance(node, ast.Import) and any(
            item.name == module and not item.asname for item in node.names
        ):
            return ()
        documented = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if documented or isinstance(node, ast.Import | ast.ImportFrom):
            last = node
    at = source.block(last)[1] if last is not None else 0
    gap = "\n" if isinstance(last, ast.Expr) else ""
    gap = "\n" + gap if at and not source.data[:at].endswith(b"\n") else gap
    return (Part(source.path, at, at, f"{gap}import {module}\n"),)


def joined(files: Mapping[str, bytes], edits: Sequence[Edit]) -> list[Edit]:
    """Return, for every change that stands in two places of a file or more, the edit of them all."""
    groups: dict[tuple[str, bytes, str], list[Edit]] = {}
    for edit in edits:
        if len(edit.parts) == 1 and edit.parts[0].end > edit.parts[0].start:
            path, start, end, text = edit.parts[0]
            groups.setdefault((path, files[path][start:end], text), []).append(edit)
    found = []
    for (path, _, _), same in groups.items():
        parts = tuple(dict.fromkeys(edit.parts[0] for edit in same))
        if len(parts) > 1:
            weight = 0.4 * max(edit.weight for edit in same)
            found.append(Edit(same[0].operator, path, same[0].line, parts, weight))
    return found


def apply(files: Mapping[str, bytes], edit: Edit) -> dict[str, bytes] | None:
    """Return the new bytes of the files that an edit changes; None where parts overlap or do nothing."""
    changed: dict[str, bytes] = {}
    ends: dict[str, int] = {}
    for part in sorted(edit.parts, key=lambda part: (part.path, -part.start, -part.end)):
        if part.end > ends.get(part.path, part.end):
            return None
        data = changed.get(part.path, files[part.path])
        changed[part.path] = data[: part.start] + part.text.encode() + data[part.end :]
        ends[part.path] = part.start
    changed = {path: data for path, data in changed.items() if data != files[path]}
    return changed or None
