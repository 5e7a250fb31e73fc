"""Small edits of Python source, each of which should change what it does: the operators of mutation testing.

After DeMillo, Lipton and Sayward (1978) and the sufficient set of Offutt et al. (1996), with statement deletion.
What rarely changes behaviour is passed by: docstrings, annotations, decorators, formatted strings, log and error
messages, dunder assignments, blocks for type checkers.
"""

from __future__ import annotations

import ast
import io
import re
import threading
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_BYTES = 2**20
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FILTERS = threading.Lock()  # warning filters belong to the process

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_BOUNDARY = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
_SKIPPED_FIELDS = frozenset(("annotation", "returns", "decorator_list", "type_params", "type_comment", "msg"))
_SKIPPED = (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_LOGGERS = frozenset(("log", "logger", "logging", "_log", "_logger", "LOG", "LOGGER", "warnings"))


class Edit(NamedTuple):
    """Bytes start..end of a source are replaced by `text`; `line` is 1-based."""

    line: int
    operator: str
    start: int
    end: int
    text: str

    def made(self, source: bytes) -> bytes:
        """The source with the edit carried out."""
        return source[: self.start] + self.text.encode() + source[self.end :]


class Unmutable(Exception):
    """A source that isn't mutated; its text is the reason."""


def split(source: bytes) -> list[bytes]:
    """Lines as Python counts them, with their ends."""
    return _LINE.findall(source)


def parsed(source: bytes) -> ast.Module:
    """The syntax tree of a source that a module could have. Raises Unmutable."""
    if len(source) > MAX_BYTES:
        raise Unmutable(f"more than {MAX_BYTES:,} bytes")
    try:
        if tokenize.detect_encoding(io.BytesIO(source).readline)[0] != "utf-8":
            raise Unmutable("not plain UTF-8")  # places in the tree are counted in bytes of UTF-8
        with _FILTERS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            compile(tree, "<mutant>", "exec", dont_inherit=True)  # what only the compiler refuses; nothing is run
        return tree
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        raise Unmutable("no Python that can be read") from None


def edits(source: bytes, lines: set[int]) -> list[Edit]:
    """Every edit whose place touches one of these 1-based lines, by place. Raises Unmutable."""
    tree, starts = parsed(source), [0]
    for line in split(source):
        starts.append(starts[-1] + len(line))
    found = set()
    try:
        for node in _walk(tree):
            for operator, place, text in _edits(node):
                last = place.end_lineno or place.lineno
                if lines.isdisjoint(range(place.lineno, last + 1)):
                    continue
                start = starts[place.lineno - 1] + place.col_offset
                end = starts[last - 1] + (place.end_col_offset or 0)
                found.add(Edit(place.lineno, operator, start, end, text))
    except (RecursionError, ValueError):
        raise Unmutable("nested too deeply") from None
    return sorted(found, key=lambda e: (e.start, e.end, e.operator, e.text))


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes in which an edit is worth a run."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.Raise):
            continue  # which error, and its words: few oracles care for the latter
        for name, value in ast.iter_fields(node):
            if name not in _SKIPPED_FIELDS:
                children = value if isinstance(value, list) else [value]
                todo += [c for c in children if isinstance(c, ast.AST) and not _neutral(c)]


def _neutral(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()):
            return True  # a docstring
        case ast.Expr(value=ast.Call(func=ast.Name(id="print") | ast.Attribute(value=ast.Name(id="warnings")))):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name)))):
            return name in _LOGGERS
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name.startswith("__")
        case ast.If(test=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name == "TYPE_CHECKING"
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
    return isinstance(node, _SKIPPED)


def _edits(node: ast.AST) -> Iterator[tuple[str, ast.stmt | ast.expr, str]]:
    """(operator, the node that it replaces, its new text) for one node."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=others):
            for at, op in enumerate(ops):
                new = _COMPARE[type(op)]()
                made = ast.Compare(left, [*ops[:at], new, *ops[at + 1 :]], others)
                yield f"{_sign(op)} to {_sign(new)}", node, _text(made)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC and not _worded(left, right):
            other = _ARITHMETIC[type(op)]()
            yield f"{_sign(op)} to {_sign(other)}", node, _text(ast.BinOp(left, other, right))
        case ast.AugAssign(target=target, op=op, value=value):
            if type(op) in _ARITHMETIC and not _worded(value):
                other = _ARITHMETIC[type(op)]()
                yield f"{_sign(op)}= to {_sign(other)}=", node, ast.unparse(ast.AugAssign(target, other, value))
            yield "statement deleted", node, "pass"
        case ast.BoolOp(op=ast.And(), values=values):
            yield "and to or", node, _text(ast.BoolOp(ast.Or(), values))
        case ast.BoolOp(op=ast.Or(), values=values):
            yield "or to and", node, _text(ast.BoolOp(ast.And(), values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not removed", node, _text(operand)
        case ast.Constant(value=value):
            yield from ((f"{_short(value)} to {_short(new)}", node, f"({new!r})") for new in _constants(value))
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield "return None", node, "return None"
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.Delete():
            yield "statement deleted", node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement deleted", node, "pass"
        case ast.Assign(targets=[ast.Name()], value=value) if not isinstance(value, ast.Constant):
            yield "value to None", value, "None"
        case ast.Break():
            yield "break to continue", node, "continue"
        case ast.Continue():
            yield "continue to break", node, "break"
        case ast.Slice():
            yield from _slices(node)
    tests: Sequence[ast.expr] = (
        [node.test] if isinstance(node, ast.If | ast.While | ast.IfExp) else getattr(node, "ifs", [])
    )
    for test in tests:
        if not _negated_elsewhere(test):
            yield "condition negated", test, _text(ast.UnaryOp(ast.Not(), test))


def _slices(node: ast.Slice) -> Iterator[tuple[str, ast.expr, str]]:
    """Off by one at either end; a bound that is a constant is edited as one."""
    one = ast.Constant(1)
    if not _is_number(node.lower):
        lower = one if node.lower is None else ast.BinOp(node.lower, ast.Add(), one)
        yield "slice starts one later", node, ast.unparse(ast.Slice(lower, node.upper, node.step))
    if not _is_number(node.upper):
        upper = ast.UnaryOp(ast.USub(), one) if node.upper is None else ast.BinOp(node.upper, ast.Sub(), one)
        yield "slice ends one earlier", node, ast.unparse(ast.Slice(node.lower, upper, node.step))


def _constants(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1] if abs(value) < 2**63 else []
    if isinstance(value, float):
        return [value + 1.0] if value + 1.0 != value else []
    if isinstance(value, str):
        return [""] if value else ["mutant"]
    return [b""] if isinstance(value, bytes) and value else []


def _negated_elsewhere(test: ast.expr) -> bool:
    """Whether another edit of the same condition is its negation."""
    match test:
        case ast.UnaryOp(op=ast.Not()) | ast.Constant():
            return True
        case ast.Compare(ops=[op]):
            return not isinstance(op, _BOUNDARY)
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_number(node: ast.expr | None) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _worded(*operands: ast.expr) -> bool:
    """Text and lists: another operator would only be a type error, which any test sees."""
    return any(
        isinstance(o, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(o, ast.Constant) and isinstance(o.value, str | bytes))
        for o in operands
    )


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _sign(op: ast.operator | ast.cmpop) -> str:
    x = ast.Name("x")
    made = ast.Compare(x, [op], [x]) if isinstance(op, ast.cmpop) else ast.BinOp(x, op, x)
    return ast.unparse(made).removeprefix("x ").removesuffix(" x")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 20 else f"{text[:17]}…"
