"""Operators that insert, take away or widen conditions: guards, defaults, exceptions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from common.context import Context
from common.edits import Edit, Part, insert_before, needs_import, replace
from common.source import Function, Source, body_start, parameters

TRACE = "REPAIR_TRACE"


def guards(context: Context) -> Iterator[Edit]:
    """Return early where a parameter is empty or None; sometimes with a trace to switch on."""
    for source, function in context.hot(ast.FunctionDef):
        first = body_start(function)
        if not source.owns_lines(first):
            continue
        for name in parameters(function):
            for test in (f"not {name}", f"{name} is None", f"{name} <= 0", f"{name} < 0"):
                for value, weight in _returned(source, function):
                    edit = insert_before(source, first, f"if {test}:\n    return {value}", "guards", weight)
                    yield edit if context.rng.random() > 0.08 else _traced(source, edit, first, test, value)


def _traced(source: Source, edit: Edit, first: ast.stmt, test: str, value: str) -> Edit:
    """Return a guard that tells on standard error that it was met, if an environment variable asks for it."""
    note = f'if os.environ.get("{TRACE}"):\n        print("guard: {test}", file=sys.stderr)'
    lines = f"if {test}:\n    {note}\n    return {value}"
    traced = insert_before(source, first, lines, edit.operator, edit.weight)
    imports = (*needs_import(source, "os"), *needs_import(source, "sys"))
    return Edit(traced.operator, traced.path, traced.line, (*traced.parts, *imports), traced.weight)


def _returned(source: Source, function: Function) -> list[tuple[str, float]]:
    """Return what to give early: what the function returns elsewhere, the empty value of its type."""
    found: dict[str, float] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and isinstance(
            node.value, ast.Constant | ast.List | ast.Dict | ast.Name
        ):
            found[source.text(node.value)] = 1.0
    kind = source.text(function.returns).split("[")[0] if function.returns is not None else ""
    empty = {
        "int": "0",
        "float": "0.0",
        "str": '""',
        "list": "[]",
        "dict": "{}",
        "bool": "False",
        "tuple": "()",
    }
    found.setdefault(empty.get(kind, "None"), 0.8)
    return list(found.items())


def raised(context: Context) -> Iterator[Edit]:
    """Raise an exception that the statement names where a parameter is out of range; change a raised one."""
    kinds = [*context.hints.exceptions, *(() if context.hints.exceptions else ("ValueError",))]
    for source, function in context.hot(ast.FunctionDef):
        first = body_start(function)
        if source.owns_lines(first) and context.hints.exceptions:
            for name in parameters(function):
                for test in (f"not {name}", f"{name} < 0", f"{name} <= 0", f"{name} is None"):
                    for kind in kinds:
                        lines = f'if {test}:\n    raise {kind}(f"bad {name}: {{{name}!r}}")'
                        yield insert_before(source, first, lines, "raised", 0.8)
    for source, node in context.hot(ast.Raise):
        target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if isinstance(target, ast.Name):
            for kind in kinds:
                if kind != target.id:
                    yield replace(source, target, kind, "raised", 1.0)


def handlers(context: Context) -> Iterator[Edit]:
    """Catch more or other exceptions, or raise again what was caught."""
    known = dict.fromkeys((*context.hints.exceptions, "ValueError", "KeyError", "TypeError", "IndexError"))
    errors = [name for result in context.failures if (name := result.error) and name != "AssertionError"]
    for source, node in context.hot(ast.Try):
        for handler in node.handlers:
            if handler.type is None:
                continue
            old = source.text(handler.type)
            for name in dict.fromkeys((*errors, *known, "Exception")):
                if name not in old:
                    inner = old.strip("()")
                    yield replace(source, handler.type, f"({inner}, {name})", "handlers", 0.9)
                    yield replace(source, handler.type, name, "handlers", 0.8)
            if isinstance(handler.body[0], ast.Pass | ast.Continue | ast.Return):
                yield replace(source, handler.body[0], "raise", "handlers", 0.7)


def skips(context: Context) -> Iterator[Edit]:
    """Skip an item of a loop that is empty, was seen before, or fails."""
    for source, node in context.hot(ast.For):
        first = node.body[0]
        if not source.owns_lines(first):
            continue
        targets = [item.id for item in ast.walk(node.target) if isinstance(item, ast.Name)]
        for name in targets:
            for test in (f"not {name}", f"{name} is None", f"not {name}.strip()"):
                yield insert_before(source, first, f"if {test}:\n    continue", "skips", 1.0)
            for held in context.names_at(source, node):
                if held not in targets:
                    yield insert_before(source, first, f"if {name} in {held}:\n    continue", "skips", 0.6)


def conditions(context: Context) -> Iterator[Edit]:
    """Always or never take a branch; add a name in scope to a condition."""
    for source, node in context.hot(ast.If, ast.While, ast.IfExp, ast.comprehension):
        tests = node.ifs if isinstance(node, ast.comprehension) else [node.test]
        names = context.names_at(source, tests[0]) if tests else []
        for test in tests:
            text = source.atom(test)
            if not isinstance(node, ast.While):
                yield replace(source, test, "True", "conditions", 0.5)
                yield replace(source, test, "False", "conditions", 0.5)
            for name in names:
                if isinstance(test, ast.Name) and test.id == name:
                    yield replace(source, test, f"{name} is not None", "conditions", 1.2)
                else:
                    yield replace(source, test, f"{name} and {text}", "conditions", 0.5)
                    yield replace(source, test, f"not {name} or {text}", "conditions", 0.3)
        for test in tests:
            if isinstance(test, ast.UnaryOp) and isinstance(test.operand, ast.Name):
                yield replace(source, test, f"{test.operand.id} is None", "conditions", 1.2)


def defaults(context: Context) -> Iterator[Edit]:
    """Make a mutable default None and set it in the body; turn `x or default` into a test for None."""
    for source, function in context.hot(ast.FunctionDef):
        arguments = [*function.args.posonlyargs, *function.args.args]
        pairs = list(
            zip(
                arguments[len(arguments) - len(function.args.defaults) :], function.args.defaults, strict=True
            )
        )
        pairs += [
            (a, d) for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True) if d
        ]
        first = body_start(function)
        for argument, default in pairs:
            if isinstance(default, ast.List | ast.Dict | ast.Set | ast.Call) and source.owns_lines(first):
                lines = f"if {argument.arg} is None:\n    {argument.arg} = {source.text(default)}"
                inserted = insert_before(source, first, lines, "defaults", 1.5)
                part = Part(source.path, *source.span(default), "None")
                yield Edit("defaults", source.path, function.lineno, (*inserted.parts, part), 1.5)
            elif isinstance(default, ast.Constant) and default.value is not None:
                yield replace(source, default, "None", "defaults", 0.4)
    for source, node in context.hot(ast.BoolOp):
        if (
            isinstance(node.op, ast.Or)
            and len(node.values) == 2
            and isinstance(node.values[0], ast.Name | ast.Attribute)
        ):
            left, right = source.text(node.values[0]), source.text(node.values[1])
            yield replace(source, node, f"({left} if {left} is not None else {right})", "defaults", 1.0)


OPERATORS = (
    (guards, 0.45),
    (raised, 0.5),
    (handlers, 0.7),
    (skips, 0.4),
    (conditions, 0.45),
    (defaults, 1.0),
)
