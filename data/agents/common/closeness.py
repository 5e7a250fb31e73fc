"""How near a failed test came: the share of it that ran, and how alike the sides of its equality are."""

from __future__ import annotations

import ast
import types
from typing import Any

from common.project import Test
from common.source import Source


def progress(source: Source, test: Test, trace: types.TracebackType | None) -> float:
    """Return a number in 0..0.9 for a failed test; deeper failures and nearer values score higher."""
    while trace is not None and trace.tb_frame.f_code.co_name != test.name.rsplit(".", 1)[-1]:
        trace = trace.tb_next
    if trace is None:
        return 0.0
    length = max(1, test.end_line - test.line)
    share = min(1.0, max(0.0, (trace.tb_lineno - test.line) / length))
    at_end = trace.tb_next is None
    near = _likeness(source, trace.tb_lineno, trace.tb_frame) if at_end else 0.0
    return 0.1 + 0.5 * share + 0.2 * near / length


def _likeness(source: Source, line: int, frame: types.FrameType) -> float:
    """Return the likeness in 0..1 of the sides of `assert a == b` that failed, evaluated once more."""
    for node in source.nodes:
        if not isinstance(node, ast.Assert) or not node.lineno <= line <= node.end_lineno:
            continue
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            try:
                return likeness(_value(test.left, frame), _value(test.comparators[0], frame))
            except Exception:
                return 0.0
    return 0.0


def _value(node: ast.expr, frame: types.FrameType) -> Any:
    names = {**frame.f_globals, **frame.f_locals}
    code = compile(ast.Expression(node), "<side>", "eval")
    return types.FunctionType(code, names)()


def likeness(left: Any, right: Any) -> float:
    """Return 1.0 for equal values, less for values that share elements, 0.0 for unlike ones."""
    if left == right:
        return 1.0
    if type(left) is not type(right):
        return 0.0
    if isinstance(left, dict):
        keys = [*left, *(key for key in right if key not in left)]
        both = [likeness(left[key], right[key]) for key in keys if key in left and key in right]
        return 0.95 * (0.1 + 0.9 * sum(both) / max(1, len(keys)))
    if isinstance(left, list | tuple):
        pairs = [likeness(a, b) for a, b in zip(left, right, strict=False)]
        return 0.95 * (0.1 + 0.9 * sum(pairs) / max(len(left), len(right), 1))
    if isinstance(left, set | frozenset):
        return 0.95 * len(left & right) / max(1, len(left | right))
    if isinstance(left, str):
        return 0.05 + 0.9 * _common(left, right)
    return 0.05


def _common(left: str, right: str) -> float:
    """Return the share of two strings that a common head and tail cover."""
    length = min(len(left), len(right))
    head = next((i for i in range(length) if left[i] != right[i]), length)
    tail = next((i for i in range(length - head) if left[-1 - i] != right[-1 - i]), length - head)
    return (head + tail) / max(len(left), len(right), 1)
