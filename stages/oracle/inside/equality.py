"""Objects that claim to equal anything: comparisons in oracles are tried on other values too.

Every `==`, `!=`, `in`, `not in` and ordering of an oracle file is compiled into a call of `compared`. When an
operand's class defines the comparison in Python, it is also compared, before or after by a coin's toss, with
values that nothing honest equals. A class that lies to all is caught; one that knows the oracle's values is
not.
"""

from __future__ import annotations

import ast
import operator
import os
from collections.abc import Callable
from types import FunctionType
from typing import Any

NAME = "__compared__"
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_METHODS = {"==": "__eq__", "!=": "__ne__", "in": "__eq__", "not in": "__eq__"}
_PLAIN = (int, str, bytes, float, bool, complex, type(None), type, range)
_MOST = 2000  # elements looked at, over all levels
_DEEP = 6


class Rewriter(ast.NodeTransformer):
    """Turns single comparisons into calls; chains keep their short circuit and stay as they are."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1 or type(node.ops[0]) not in _OPERATORS:
            return node
        sign = ast.Constant(_OPERATORS[type(node.ops[0])])
        call = ast.Call(ast.Name(NAME, ast.Load()), [sign, node.left, node.comparators[0]], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def emit(name: str) -> None:
    """Told of each event, `always_equal:CLASS` or `contains_anything:CLASS`; the driver puts its own in place."""


def compared(sign: str, left: Any, right: Any) -> Any:
    """What comparisons become. What decides the result can't be exchanged without changing this function."""
    odd = _odd(left, right, _METHODS.get(sign, "__lt__"))
    before = bool(odd) and os.urandom(1)[0] & 1
    lying = _lies(sign, odd, left, right) if before else []
    if sign == "==":
        result = left == right
    elif sign == "!=":
        result = left != right
    elif sign == "in":
        result = left in right
    elif sign == "not in":
        result = left not in right
    elif sign == "<":
        result = left < right
    elif sign == "<=":
        result = left <= right
    elif sign == ">":
        result = left > right
    else:
        result = left >= right
    if odd and not before:
        lying = _lies(sign, odd, left, right)
    for event in lying:
        emit(event)
    return result


def _odd(left: Any, right: Any, method: str) -> list[tuple[Any, Any]]:
    """Values whose class compares in Python, each with what it stands against where that is known."""
    found: list[tuple[Any, Any]] = []
    stack = [(left, right, 0), (right, left, 0)]
    seen = 0
    while stack and seen < _MOST:
        value, other, depth = stack.pop()
        seen += 1
        kind = type(value)
        if kind in _PLAIN:
            continue
        if kind in (list, tuple, set, frozenset, dict) and depth < _DEEP:
            inner = list(value)[:_MOST]
            if kind is dict:
                inner += list(value.values())[:_MOST]
            stack += [(one, None, depth + 1) for one in inner]
        elif any(isinstance(_found(kind, name), FunctionType) for name in {method, "__eq__", "__contains__"}):
            found.append((value, other))
    return found[:16]


def _found(kind: type, name: str) -> Any:
    for base in type.__dict__["__mro__"].__get__(kind):
        if name in type.__dict__["__dict__"].__get__(base):
            return type.__dict__["__dict__"].__get__(base)[name]
    return None


def _lies(sign: str, odd: list[tuple[Any, Any]], left: Any, right: Any) -> list[str]:
    events = []
    for value, other in odd:
        kind = type(value)
        what = "always_equal"
        if sign in ("<", "<=", ">", ">="):
            lie = _true(operator.lt, left, right) and _true(operator.gt, left, right)
        elif sign == "!=":
            lie = _true(operator.ne, value, value) and any(_true(operator.eq, value, probe) for probe in _probes(other))
        else:
            lie = any(_true(operator.eq, value, probe) for probe in _probes(other))
            if sign in ("in", "not in") and value is right and not lie:
                # A `__contains__` with its `not` astray says this too: a wrong solution, and no sign of cheating.
                lie, what = _true(operator.contains, value, object()), "contains_anything"
        if lie:
            events.append(f"{what}:{kind.__module__}.{kind.__qualname__}")
    return events


def _true(ask: Callable[[Any, Any], Any], left: Any, right: Any) -> bool:
    try:
        return bool(ask(left, right))
    except Exception:
        return False


def _probes(other: Any) -> list[Any]:
    """Values that nothing honest equals, among them a near miss of what is compared with."""
    number = int.from_bytes(os.urandom(6), "big") + (1 << 50)
    text = os.urandom(9).hex()
    probes: list[Any] = [
        object(),
        number,
        -number,
        number + 0.5,
        text,
        text.encode(),
        (text,),
        [text],
        {text: number},
    ]
    kind = type(other)
    if kind in (int, float):
        probes.append(other + 1 + os.urandom(1)[0])
    elif kind is str:
        probes.append(other + text[0])
    elif kind is bytes:
        probes.append(other + text[:1].encode())
    elif kind is list:
        probes.append([*other, text])
    elif kind is tuple:
        probes.append((*other, text))
    elif kind is dict:
        probes.append({**other, text: text})
    return sorted(probes, key=lambda _: os.urandom(4))
