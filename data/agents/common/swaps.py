"""The plain operators: comparison, arithmetic, constants, negation, logic, bounds, order of arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from common.context import Context
from common.edits import Edit, Part, replace
from common.source import Source

SYMBOLS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
COMPARED = {
    "<": ("<=", ">", ">="), "<=": ("<", ">=", ">"), ">": (">=", "<", "<="), ">=": (">", "<=", "<"),
    "==": ("!=", "<=", ">="), "!=": ("==", "<", ">"), "in": ("not in",), "not in": ("in",),
    "is": ("is not", "=="), "is not": ("is", "!="),
}  # fmt: skip
COMPUTED = {
    "+": ("-",), "-": ("+",), "*": ("//", "/"), "/": ("//", "*"), "//": ("/", "%", "*"), "%": ("//",),
    "&": ("|", "-"), "|": ("&", "^"), "^": ("|",), "<<": (">>",), ">>": ("<<",),
}  # fmt: skip


def between(
    source: Source, start: int, end: int, old: str, new: str, at: tuple[str, int], weight: float
) -> Edit | None:
    """Return the edit that puts `new` for the only `old` between two offsets; None where there are others."""
    gap = source.data[start:end]
    if gap.count(old.encode()) != 1 or b"#" in gap:
        return None
    first = start + gap.index(old.encode())
    return Edit(at[0], source.path, at[1], (Part(source.path, first, first + len(old), new),), weight)


def comparisons(context: Context) -> Iterator[Edit]:
    """Swap a comparison for its neighbours."""
    for source, node in context.hot(ast.Compare):
        left = node.left
        for sign, right in zip(node.ops, node.comparators, strict=True):
            old = SYMBOLS[type(sign)]
            rare = 0.6 if old.endswith("in") and isinstance(source.parents[node], ast.Return) else 1.0
            for rank, new in enumerate(COMPARED[old]):
                place = (source.span(left)[1], source.span(right)[0])
                edit = between(source, *place, old, new, ("comparisons", node.lineno), rare / (1 + rank))
                if edit is not None:
                    yield edit
            left = right


def arithmetic(context: Context) -> Iterator[Edit]:
    """Swap an arithmetic operator, also of an augmented assignment."""
    for source, node in context.hot(ast.BinOp, ast.AugAssign):
        old = SYMBOLS.get(type(node.op), "")
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        if isinstance(left, ast.Constant) and isinstance(left.value, str):
            continue
        for rank, new in enumerate(COMPUTED.get(old, ())):
            place = (source.span(left)[1], source.span(right)[0])
            edit = between(source, *place, old, new, ("arithmetic", node.lineno), 1.0 / (1 + rank))
            if edit is not None:
                yield edit


def constants(context: Context) -> Iterator[Edit]:
    """Move an integer by one; turn True into False and back."""
    for source, node in context.hot(ast.Constant):
        if isinstance(node.value, bool):
            yield replace(source, node, str(not node.value), "constants", 1.2)
        elif isinstance(node.value, int) and abs(node.value) < 10**6:
            yield replace(source, node, str(node.value + 1), "constants")
            if node.value > 0:
                yield replace(source, node, str(node.value - 1), "constants")
            elif not isinstance(source.parents[node], ast.BinOp | ast.UnaryOp):
                yield replace(source, node, "-1", "constants")


def negations(context: Context) -> Iterator[Edit]:
    """Add `not` to a condition or to a truth that is returned, or take one or a minus away."""
    for source, node in context.hot(ast.UnaryOp):
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            yield replace(source, node, source.text(node.operand), "negations")
        elif isinstance(node.op, ast.Not | ast.USub):
            yield replace(source, node, f"({source.text(node.operand)})", "negations")
    for source, node in context.hot(
        ast.If, ast.While, ast.IfExp, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.Return
    ):
        for test in _tests(source, node):
            if not isinstance(test, ast.UnaryOp | ast.Constant):
                tight = isinstance(test, ast.Compare | ast.Name | ast.Attribute | ast.Call | ast.Subscript)
                text = source.text(test)
                weight = 0.5 if isinstance(node, ast.Return) else 1.0
                yield replace(source, test, f"not {text}" if tight else f"not ({text})", "negations", weight)


def _tests(source: Source, node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return [test for generator in node.generators for test in generator.ifs]
    if not isinstance(node, ast.Return):
        return [node.test]
    function = source.function_of(node)
    returns = function.returns if function is not None else None
    truth = (isinstance(returns, ast.Name) and returns.id == "bool") or isinstance(
        node.value, ast.Compare | ast.BoolOp
    )
    return [node.value] if truth and node.value is not None else []


def logic(context: Context) -> Iterator[Edit]:
    """Swap `and` and `or`, or leave one operand out."""
    for source, node in context.hot(ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            place = (source.span(left)[1], source.span(right)[0])
            edit = between(source, *place, old, new, ("logic", node.lineno), 1.0)
            if edit is not None:
                yield edit
        for value in node.values:
            rest = [source.text(item) for item in node.values if item is not value]
            yield replace(source, node, f"({f' {old} '.join(rest)})", "logic", 0.5)


def bounds(context: Context) -> Iterator[Edit]:
    """Move an index, a bound, an argument or a compared value by one; take such a move away."""
    for source, node in context.hot(ast.Subscript, ast.Call, ast.Compare, ast.BinOp, ast.Return):
        for item, weight in _bounded(node):
            if not isinstance(item, ast.Constant) and context.kinds.of(source, item) in ("", "int", "float"):
                for sign in ("+", "-"):
                    yield replace(source, item, f"{source.atom(item)} {sign} 1", "bounds", weight)
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Add | ast.Sub)
            and isinstance(node.right, ast.Constant)
        ):
            yield replace(source, node, source.atom(node.left), "bounds", 1.0)


def _bounded(node: ast.AST) -> list[tuple[ast.expr, float]]:
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Slice):
            return [(item, 1.0) for item in (node.slice.lower, node.slice.upper) if item is not None]
        return [(node.slice, 0.5)] if not isinstance(node.slice, ast.Tuple | ast.JoinedStr) else []
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("range", "min", "max")
    ):
        return [(item, 1.0) for item in node.args if not isinstance(item, ast.Starred | ast.GeneratorExp)]
    if isinstance(node, ast.Call):
        return [(item, 0.4) for item in node.args if isinstance(item, ast.Name | ast.BinOp)]
    if isinstance(node, ast.Compare):
        return (
            [(node.comparators[-1], 0.4)]
            if not isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot)
            else []
        )
    if isinstance(node, ast.Return) and isinstance(node.value, ast.BinOp | ast.Name):
        return [(node.value, 0.4)]
    return []


def swapped_arguments(context: Context) -> Iterator[Edit]:
    """Swap two arguments of a call, two elements of a tuple, or the sides of a subtraction or a division."""
    for source, node in context.hot(ast.Call, ast.Tuple, ast.BinOp):
        text = source.atom if isinstance(node, ast.BinOp) else source.text
        weight = 0.5 if isinstance(node, ast.Tuple) else 1.0
        for left, right in _swappable(node):
            first, second = text(left), text(right)
            if first != second and not isinstance(left, ast.Starred) and not isinstance(right, ast.Starred):
                parts = (
                    Part(source.path, *source.span(left), second),
                    Part(source.path, *source.span(right), first),
                )
                yield Edit("swapped_arguments", source.path, node.lineno, parts, weight)


def _swappable(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.BinOp):
        ordered = isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod)
        return [(node.left, node.right)] if ordered else []
    items = node.args if isinstance(node, ast.Call) else node.elts
    return [(left, right) for n, left in enumerate(items) for right in items[n + 1 : n + 3]]


PLAIN = (comparisons, arithmetic, constants, negations, logic, bounds, swapped_arguments)
