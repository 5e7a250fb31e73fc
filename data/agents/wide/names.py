"""Operators on names: another variable, attribute, function or method of the same kind."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from common.context import Context
from common.edits import Edit, replace
from common.kinds import locals_of
from common.source import Function, Source, last_name, parameters

FAMILIES = tuple(
    line.split()
    for line in """
min max
any all
append extend add insert
strip lstrip rstrip
split rsplit
partition rpartition
find rfind index rindex
startswith endswith
lower upper casefold title
items keys values
floor ceil
int round float
len sum
add discard remove
pop get
popleft pop
append appendleft
bisect_left bisect_right
ljust rjust center
union intersection difference
update setdefault
isdigit isalnum isalpha
removeprefix lstrip
removesuffix rstrip
list tuple set
sorted list
match search fullmatch
sorted reversed
""".strip().splitlines()
)


def likeness(old: str, new: str) -> float:
    """Return how alike two identifiers are, 0..1."""
    return SequenceMatcher(None, old.lower(), new.lower(), autojunk=False).ratio()


def _weight(context: Context, old: str, new: str) -> float:
    said = 1.3 if new in context.hints.names else 1.2 if new.lower() in context.hints.words else 1.0
    return said * (0.4 + 0.6 * likeness(old, new))


def _others(
    context: Context, source: Source, node: ast.AST, old: str, names: Iterable[str], op: str
) -> Iterator[Edit]:
    for name in dict.fromkeys(names):
        if name != old:
            yield replace(source, node, name, op, _weight(context, old, name))


def variables(context: Context) -> Iterator[Edit]:
    """Read another local name, or another value at the top of the file."""
    for source, node in context.hot(ast.Name):
        if not isinstance(node.ctx, ast.Load):
            continue
        above = source.parents[node]
        kinds = context.globals_of(source)
        local = context.names_at(source, node)
        if isinstance(above, ast.Call) and above.func is node and node.id not in local:
            continue
        if node.id in local:
            own = context.kinds.of(source, node)
            table = locals_of(source.function_of(node)) if own else {}
            local = [name for name in local if table.get(name, "") in ("", own)]
            yield from _others(context, source, node, node.id, local, "variables")
        elif kinds.get(node.id) == "value":
            values = [name for name, kind in kinds.items() if kind == "value"]
            yield from _others(context, source, node, node.id, values, "variables")


def attributes(context: Context) -> Iterator[Edit]:
    """Use another field or method: of the same class for `self`, else of any class that has the attribute."""
    owners = [
        (source, node)
        for source in context.project.code()
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
    ]
    known = [context.attributes_of(node) for _, node in owners]
    for source, node in context.hot(ast.Attribute):
        above = source.parents[node]
        called = isinstance(above, ast.Call) and above.func is node
        here = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        sets = [context.attributes_of(source.class_of(node))] if here else known
        for names in sets:
            if node.attr in names[called]:
                for name in names[called]:
                    if name != node.attr and not name.startswith("__"):
                        text = f"{source.text(node.value)}.{name}"
                        yield replace(source, node, text, "attributes", _weight(context, node.attr, name))


def functions(context: Context) -> Iterator[Edit]:
    """Call another function of the workspace that takes as many arguments, or one of the same family."""
    for source, node in context.hot(ast.Call):
        target = node.func
        name = last_name(target)
        prefix = f"{source.text(target.value)}." if isinstance(target, ast.Attribute) else ""
        for family in FAMILIES:
            if name in family:
                for other in family:
                    if other != name:
                        yield replace(source, target, prefix + other, "functions", 0.6)
        if prefix:
            continue
        kinds = context.globals_of(source)
        if kinds.get(name) not in ("function", "import", "class"):
            continue
        for other, kind in kinds.items():
            known = context.defined.get(other, ()) if kind in ("function", "import") else ()
            if other != name and any(_fits(function, node) for _, function in known):
                yield replace(source, target, other, "functions", _weight(context, name, other))


def _fits(function: Function, call: ast.Call) -> bool:
    most = len(parameters(function))
    least = most - len(function.args.defaults) - sum(item is not None for item in function.args.kw_defaults)
    return least <= len(call.args) + len(call.keywords) <= most


OPERATORS = ((variables, 0.55), (attributes, 0.8), (functions, 0.8))
