"""Renames by the pairs of a statement, over all files of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from common.context import Context
from common.edits import Edit, Part
from common.source import Function, Source

_WORD = re.compile(rb"[A-Za-z_]\w*")
Spots = list[tuple[int, int, str, str]]


def plain_renames(context: Context) -> Iterator[Edit]:
    """Rename every identifier that a pair names, in all files or in those that aren't finished."""
    pairs = dict(context.hints.renames)
    for chosen in [pairs, *({old: new} for old, new in pairs.items())] if pairs else []:
        for finished in (True, False):
            parts: list[Part] = []
            for source in context.project.code():
                found = spots(source)
                if not (finished and _defines(found, chosen)):
                    parts += [
                        Part(source.path, *spot[:2], chosen[spot[2]]) for spot in found if spot[2] in chosen
                    ]
            if parts:
                yield Edit("renames", "", 0, tuple(dict.fromkeys(parts)), 1.0 if chosen is pairs else 0.5)


def _defines(found: Spots, pairs: dict[str, str]) -> bool:
    """Return whether a file defines a new name, and so has moved already."""
    return any(kind == "define" and name in pairs.values() for _, _, name, kind in found)


def spots(source: Source) -> Spots:
    """Return (start, end, identifier, kind) of every identifier of a file, in order of the text."""
    found: Spots = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name):
            found.append((*source.span(node), node.id, "name"))
        elif isinstance(node, ast.Attribute):
            end = source.span(node)[1]
            found.append((end - len(node.attr.encode()), end, node.attr, "attribute"))
        elif isinstance(node, ast.arg):
            start = source.span(node)[0]
            found.append((start, start + len(node.arg.encode()), node.arg, "define"))
        elif isinstance(node, ast.keyword) and node.arg:
            start = source.span(node)[0]
            found.append((start, start + len(node.arg.encode()), node.arg, "keyword"))
        elif isinstance(node, Function | ast.ClassDef):
            start = source.span(node)[0]
            at = source.data.index(node.name.encode(), start + (6 if isinstance(node, ast.ClassDef) else 4))
            found.append((at, at + len(node.name.encode()), node.name, "define"))
        elif isinstance(node, ast.alias) and node.name != "*":
            start, end = source.span(node)
            found += [
                (start + word.start(), start + word.end(), word.group().decode(), "import")
                for word in _WORD.finditer(source.data[start:end])
            ]
    return sorted(found)


def careful_renames(context: Context) -> Iterator[Edit]:
    """Rename what refers to the changed module: attributes, imports, free names, keywords."""
    pairs = dict(context.hints.renames)
    if not pairs:
        return
    for chosen in [pairs, *({old: new} for old, new in pairs.items())]:
        whole = 1.0 if chosen is pairs else 0.4
        for kinds, weight in (
            ({"attribute", "import", "name", "keyword"}, 1.3),
            ({"attribute"}, 1.0),
            ({"import", "name"}, 0.8),
        ):
            parts = tuple(
                part
                for source in context.project.code()
                for part in moved_parts(context, source, chosen, kinds)
            )
            if parts:
                yield Edit("careful_renames", "", 0, parts, whole * weight)


def moved_parts(context: Context, source: Source, pairs: dict[str, str], kinds: set[str]) -> Iterator[Part]:
    found = spots(source)
    if _defines(found, pairs):
        return
    defined = {name for _, _, name, kind in found if kind == "define"}
    stored = {n.id for n in source.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    accepted = _known_fields(context, pairs)
    for start, end, name, kind in found:
        if name not in pairs or kind not in kinds:
            continue
        if kind == "name" and name in defined | stored:
            continue
        if kind == "keyword" and pairs[name] not in accepted:
            continue
        yield Part(source.path, start, end, pairs[name])


def _known_fields(context: Context, pairs: dict[str, str]) -> set[str]:
    """Return the new names that are parameters or fields somewhere in the code."""
    names = {
        arg.arg
        for items in context.defined.values()
        for _, item in items
        for arg in ast.walk(item)
        if isinstance(arg, ast.arg)
    }
    for source in context.project.code():
        for node in source.nodes:
            if isinstance(node, ast.ClassDef):
                names |= set(context.attributes_of(node)[0])
    return names & set(pairs.values())
