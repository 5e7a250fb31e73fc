"""Operators on whole statements: delete, move, copy; and on the elements of literal tables."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from common.context import Context
from common.edits import Edit, Part, delete, insert_after, insert_before, replace
from common.source import Function, Source

SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Delete, ast.Continue, ast.Break)


def deletions(context: Context) -> Iterator[Edit]:
    """Delete a statement, or a whole `if`; or keep only the body of an `if`."""
    for source, node in context.hot(*SIMPLE, ast.If):
        documented = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if documented or source.function_of(node) is None:
            continue
        if isinstance(node, ast.If):
            yield replace(source, node.test, "True", "deletions", 0.6)
        if not (isinstance(node, ast.If) and source.data[slice(*source.span(node))].startswith(b"elif")):
            yield delete(source, node, "deletions", 0.5 if isinstance(node, ast.Return | ast.Assign) else 1.0)


def moves(context: Context) -> Iterator[Edit]:
    """Swap a statement with the next one, or move it out of its block, or into the block before it."""
    for source in context.project.code():
        for block in _blocks(source):
            for number, node in enumerate(block):
                if context.level(source.path, node.lineno) <= 0 or not source.owns_lines(node):
                    continue
                following = block[number + 1] if number + 1 < len(block) else None
                if following is not None and source.owns_lines(following):
                    first, second = source.block(node), source.block(following)
                    text = [source.data[slice(*part)].decode() for part in (first, second)]
                    parts = (
                        Part(source.path, *first, _line(text[1])),
                        Part(source.path, *second, _line(text[0])),
                    )
                    yield Edit("moves", source.path, node.lineno, parts)
                if following is None and number:
                    yield from _out(source, node)
                if number and isinstance(block[number - 1], ast.For | ast.While | ast.If):
                    yield _into(source, node, block[number - 1])


def _line(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _blocks(source: Source) -> Iterator[list[ast.stmt]]:
    for function in source.functions:
        for node in ast.walk(function):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                plain = isinstance(block, list) and block and isinstance(block[0], ast.stmt)
                if plain and source.function_of(block[0]) is function:
                    yield block


def _out(source: Source, node: ast.stmt) -> Iterator[Edit]:
    above = source.parents[node]
    if isinstance(above, ast.For | ast.While | ast.If | ast.With) and not getattr(above, "orelse", None):
        text = _shifted(source, node, source.indent(above))
        removed = Part(source.path, *source.block(node), "")
        after = source.block(above)[1]
        if after == removed.end:
            yield Edit("moves", source.path, node.lineno, (removed._replace(text=text),))
        before = source.block(above)[0]
        yield Edit("moves", source.path, node.lineno, (removed, Part(source.path, before, before, text)), 0.7)


def _into(source: Source, node: ast.stmt, block: ast.stmt) -> Edit:
    text = _shifted(source, node, source.indent(block.body[-1]))
    return Edit("moves", source.path, node.lineno, (Part(source.path, *source.block(node), text),), 0.8)


def _shifted(source: Source, node: ast.stmt, indent: str) -> str:
    old = source.indent(node)
    lines = source.data[slice(*source.block(node))].decode().splitlines()
    return "".join(f"{indent}{line.removeprefix(old)}\n" for line in lines)


def copies(context: Context) -> Iterator[Edit]:
    """Insert a simple statement that the class or the module has elsewhere, or a call without arguments."""
    for source, function in context.hot(ast.FunctionDef):
        level = max(
            context.level(source.path, line) for line in range(function.lineno, function.end_lineno + 1)
        )
        if level <= 0:
            continue
        for text, weight in _ingredients(context, source, function):
            for block in (
                function.body,
                *(n.body for n in ast.walk(function) if isinstance(n, ast.If | ast.For | ast.While)),
            ):
                for node in block:
                    if not source.owns_lines(node) or context.level(source.path, node.lineno) <= 0:
                        continue
                    documented = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                    if (not documented and node is block[0]) or isinstance(node, ast.Return):
                        yield insert_before(source, node, text, "copies", weight)
                    if node is block[-1] and not isinstance(
                        node, ast.Return | ast.Raise | ast.Continue | ast.Break
                    ):
                        yield insert_after(source, node, text, "copies", weight)


def _ingredients(context: Context, source: Source, function: Function) -> Iterator[tuple[str, float]]:
    """Yield statements whose names are all known in the function."""
    local = {*context.names_at(source, function.body[0]), *context.globals_of(source), "self"}
    found: dict[str, float] = {}
    owner = source.class_of(function)
    own = source.data[slice(*source.span(function))].decode()
    for node in ast.walk(owner if owner is not None else source.tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) and node.lineno == node.end_lineno:
            names = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
            text = source.text(node)
            called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
            changes = called or any(isinstance(item, ast.Attribute) for item in ast.walk(node))
            if changes and names <= local and "self" in names and text not in own:
                found.setdefault(text, 0.8)
    fields, methods = context.attributes_of(owner)
    for name in methods:
        targets = [item for _, item in context.defined.get(name, ()) if len(item.args.args) == 1]
        if targets and not name.startswith("__") and f"self.{name}()" not in own:
            found.setdefault(f"self.{name}()", 1.0)
    for field in fields:
        for other in _methods_of_field(context, source, owner, field):
            found.setdefault(f"self.{field}.{other}()", 0.9)
        if f"self.{field}" in source.data.decode("utf-8", "replace"):
            found.setdefault(f"self.{field}.clear()", 0.4)
    return iter(found.items())


def _methods_of_field(context: Context, source: Source, owner: ast.ClassDef | None, field: str) -> list[str]:
    """Return methods without arguments of workspace classes that `self.field` is made from."""
    found: list[str] = []
    made = {
        item.func.id
        for node in ast.walk(owner or source.tree)
        if isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Attribute) and t.attr == field for t in node.targets)
        for item in ast.walk(node.value)
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Name)
    }
    for other in context.project.code():
        for node in other.tree.body:
            if isinstance(node, ast.ClassDef) and node.name in made:
                found += [
                    item.name
                    for item in node.body
                    if isinstance(item, Function)
                    and len(item.args.args) == 1
                    and not item.name.startswith("_")
                ]
    return found


def elements(context: Context) -> Iterator[Edit]:
    """Add a name in scope to a literal list or tuple, take an element away, or swap two neighbours."""
    for source, node in context.hot(ast.Tuple, ast.List):
        if not isinstance(node.ctx, ast.Load) or len(node.elts) < 2:
            continue
        texts = [source.text(item) for item in node.elts]
        ends = (source.text(node)[0], source.text(node)[-1])
        ends = ends if ends in (("(", ")"), ("[", "]")) else ("", "")
        names: list[str] = []
        if all(isinstance(item, ast.Name) for item in node.elts):
            kinds = context.globals_of(source)
            names = [name for name in kinds if name not in texts and kinds.get(texts[0]) == kinds[name]]
        orders = [[*texts[:n], texts[n + 1], texts[n], *texts[n + 2 :]] for n in range(len(texts) - 1)]
        orders += [[*texts[:n], name, *texts[n:]] for name in names for n in range(len(texts) + 1)]
        orders += [[*texts[:n], *texts[n + 1 :]] for n in range(len(texts)) if len(texts) > 2]
        for order in orders:
            yield replace(source, node, f"{ends[0]}{', '.join(order)}{ends[1]}", "elements", 0.8)


OPERATORS = ((deletions, 0.55), (moves, 0.6), (copies, 0.75), (elements, 0.8))
