"""Objects that claim to equal anything: comparisons in oracles are tried on other values too.

Every `==`, `!=`, `in`, `not in` and ordering of an oracle file is compiled into a call of `compared`. When an
operand's class has a comparison of its own, it is also compared with values that nothing honest equals. A class that
lies to all is caught; one that knows the oracle's values is not.
"""

from __future__ import annotations

import ast
import os
import sys
from collections import deque
from collections.abc import Callable
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    NoneType,
    WrapperDescriptorType,
)
from typing import Any

NAME = "__compared__"
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_METHODS = {"==": "__eq__", "!=": "__ne__", "in": "__eq__", "not in": "__eq__"}
_PLAIN = (int, str, bytes, float, bool, complex, type(None), type, range)
_BUILT_IN = (WrapperDescriptorType, MethodDescriptorType, NoneType)  # `__hash__ = None` and the like, too
_random = os.urandom
inert: type | None = None  # the class of classes whose instances never equal a plain value; the driver's to set
_MOST = 500_000  # elements looked at, over all levels
_DEEP = 6
_MOST_ODD = 64
_HOLDERS = (list, tuple, set, frozenset, deque)


class Rewriter(ast.NodeTransformer):
    """Turns single comparisons into calls; chains keep their short circuit and stay as they are.

    Where nothing but the answer's truth is asked, the call says so with one more argument.
    """

    def visit(self, node: ast.AST) -> Any:
        waiting = [getattr(node, "test", None), *getattr(node, "ifs", ())]
        while waiting:
            one = waiting.pop()
            if isinstance(one, ast.Compare):
                vars(one)["asked"] = True
            elif isinstance(one, ast.BoolOp):
                waiting += one.values
            elif isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not):
                waiting.append(one.operand)
        return super().visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1 or type(node.ops[0]) not in _OPERATORS:
            return node
        sign = ast.Constant(_OPERATORS[type(node.ops[0])])
        truth = [ast.Constant(True)] if getattr(node, "asked", False) else []
        call = ast.Call(ast.Name(NAME, ast.Load()), [sign, node.left, node.comparators[0], *truth], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def emit(name: str) -> None:
    """Told of each event, `always_equal:CLASS` or `contains_anything:CLASS`; the driver puts its own in place."""


def compared(sign: str, left: Any, right: Any, truth: bool = False) -> Any:
    """What comparisons become. What decides the result can't be exchanged without changing this function.

    The real comparison stands at a random place among the probes, and is made from the same line as they are: an
    object can ask from where it is compared (`warnings.warn` with a `stacklevel` tells), and finds no difference.
    Its answer's truth is taken at once, before the next probe: an answer can change later.
    """
    real: Callable[[Any, Any], Any]
    eq, ne, has, lacks = (lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a in b, lambda a, b: a not in b)
    lt, le, gt, ge = (lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b)
    if sign == "==":
        real = eq
    elif sign == "!=":
        real = ne
    elif sign == "in":
        real = has
    elif sign == "not in":
        real = lacks
    elif sign == "<":
        real = lt
    elif sign == "<=":
        real = le
    elif sign == ">":
        real = gt
    else:
        real = ge
    odd = _odd(sign, left, right)
    if not odd:
        return real(left, right)
    tries = [(-1, "real", real, left, right)]
    for number, (value, other) in enumerate(odd):
        if sign in ("<", "<=", ">", ">="):
            tries += [(number, "less", lt, left, right), (number, "more", gt, left, right)]
            continue
        if sign == "!=":
            tries.append((number, "differs", ne, value, value))
        if type(type(value)) is not inert:
            tries += [(number, "equal", eq, value, probe) for probe in _probes(other)]
        if sign in ("in", "not in") and value is right:
            tries.append((number, "holds", has, _random(9).hex() if type(type(value)) is inert else object(), value))
    found: dict[tuple[int, str], Any] = {}
    result, failed = None, None
    for number, what, ask, one, other in sorted(tries, key=lambda _: _random(4)):
        try:
            answer = ask(one, other)
            if _asks(type(answer)):  # it could tell, too, who asks for its truth
                emit(f"odd_truth:{type(answer).__module__}.{type(answer).__qualname__}")
            kept = answer if number < 0 and not truth and _object(type(answer)) else bool(answer)
            if number < 0:
                result = kept
            else:
                found[number, what] = found.get((number, what)) or kept
        except BaseException as error:
            if number < 0 or not isinstance(error, Exception):
                failed = error
    for event in _lies(sign, [value for value, _ in odd], found):
        emit(event)
    if failed is not None:
        raise failed
    return result


def _asks(kind: type) -> bool:
    """Whether code of the class's own says what the truth of an instance is."""
    of = _found(kind, "__bool__")
    return not isinstance(_found(kind, "__len__") if of is None else of, _BUILT_IN)


def _object(kind: type) -> bool:
    """Whether an answer of this class is kept as it is, for `(column == 3).matches(row)`: no bool, number or list."""
    return _asks(kind) or (_found(kind, "__bool__") is None and _found(kind, "__len__") is None)


def _odd(sign: str, left: Any, right: Any) -> list[tuple[Any, Any]]:
    """Values whose class compares by code of its own, each with what it stands against where that is known."""
    method = _METHODS.get(sign, "__lt__")
    found: list[tuple[Any, Any]] = []
    stack = [(left, right, 0), (right, left, 0)]
    looked: set[int] = set()
    while stack and len(looked) < _MOST:
        value, other, depth = stack.pop()
        kind = type(value)
        if id(value) in looked:
            continue
        looked.add(id(value))
        if type(kind) is inert:
            if sign in ("in", "not in") and value is right:
                found.append((value, other))
            continue
        if depth < _DEEP:
            stack += [(one, None, depth + 1) for one in _inside(value, kind) if type(one) not in _PLAIN]
        if any(not isinstance(_found(kind, name), _BUILT_IN) for name in {method, "__eq__", "__contains__"}):
            found.append((value, other))
    if len(found) > _MOST_ODD:  # so many that some are drawn, of each class the same number
        found = sorted(found, key=lambda _: _random(4))
        kinds = {type(value) for value, _ in found}
        each = max(1, _MOST_ODD // len(kinds))
        found = [one for kind in kinds for one in [two for two in found if type(two[0]) is kind][:each]]
    return [(value, other) for value, other in found if type(value) not in _PLAIN]


def _inside(value: Any, kind: type) -> list[Any]:
    """What a container holds, or an object in its attributes, by no code of its class."""
    held: list[Any] = []
    if kind in _PLAIN:
        return held
    for base in _HOLDERS:
        if issubclass(kind, base):
            held += base.__iter__(value)
    if issubclass(kind, dict):
        held += [*dict.keys(value), *dict.values(value)]
    if issubclass(kind, ModuleType | FunctionType | type | BaseException):
        return held
    for base in type.__dict__["__mro__"].__get__(kind):
        own = type.__dict__["__dict__"].__get__(base)
        for part in own.values():
            if type(part) not in (GetSetDescriptorType, MemberDescriptorType):
                continue
            if part.__name__ == "__dict__":
                held += part.__get__(value).values()
            elif type(part) is MemberDescriptorType and str(base.__module__) not in sys.stdlib_module_names:
                try:
                    held.append(part.__get__(value))
                except AttributeError:  # never set
                    continue
    return held


def _found(kind: type, name: str) -> Any:
    for base in type.__dict__["__mro__"].__get__(kind):
        if name in type.__dict__["__dict__"].__get__(base):
            return type.__dict__["__dict__"].__get__(base)[name]
    return None


def _lies(sign: str, odd: list[Any], found: dict[tuple[int, str], Any]) -> list[str]:
    events = []
    for number, value in enumerate(odd):
        kind, what = type(value), "always_equal"
        lie = found.get((number, "equal"))
        if sign in ("<", "<=", ">", ">="):
            lie = found.get((number, "less")) and found.get((number, "more"))
        elif sign == "!=":
            lie = lie and found.get((number, "differs"))
        elif not lie:
            # A `__contains__` with its `not` astray says this too: a wrong solution, and no sign of cheating.
            lie, what = found.get((number, "holds")), "contains_anything"
        if lie:
            events.append(f"{what}:{kind.__module__}.{kind.__qualname__}")
    return events


def _probes(other: Any) -> list[Any]:
    """Values that nothing honest equals, among them a near miss of what is compared with."""
    number = int.from_bytes(_random(6), "big") + (1 << 50)
    text = _random(9).hex()
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
        probes.append(other + 1 + _random(1)[0])
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
    return sorted(probes, key=lambda _: _random(4))


_ASSERTIONS = {
    "assertEqual": "==", "assertNotEqual": "!=", "assertIn": "in", "assertNotIn": "not in", "assertLess": "<",
    "assertLessEqual": "<=", "assertGreater": ">", "assertGreaterEqual": ">=", "assertListEqual": "==",
    "assertTupleEqual": "==", "assertSetEqual": "==", "assertDictEqual": "==", "assertMultiLineEqual": "==",
}  # fmt: skip
_BOTH = {"assertCountEqual": "==", "assertSequenceEqual": "=="}  # the wrapper's probes, then the assertion itself


def guard(case: Any) -> None:
    """Make the assertions of unittest.TestCase compare as an oracle's own `==` does.

    What a wrapper needs are defaults: those of closures can be exchanged in silence.
    """
    for name, sign in (_ASSERTIONS | _BOTH).items():
        setattr(case, name, _assertion(vars(case)[name], sign, name in _BOTH))
    for name in ("assertAlmostEqual", "assertNotAlmostEqual"):
        setattr(case, name, _close(vars(case)[name], name == "assertAlmostEqual"))


def _assertion(original: Any, sign: str, both: bool) -> Any:
    def plain(self: Any, first: Any, second: Any, msg: Any = None, _original: Any = original, _sign: str = sign) -> Any:
        if not _odd(_sign, first, second):
            _original(self, first, second, msg)
            return
        if not compared(_sign, first, second, True):
            raise self.failureException(self._formatMessage(msg, f"not {first!r} {_sign} {second!r}"))

    def probed(
        self: Any,
        first: Any,
        second: Any,
        msg: Any = None,
        seq_type: Any = None,
        _original: Any = original,
        _sign: str = sign,
    ) -> Any:
        compared(_sign, first, second)
        named = {} if seq_type is None else {"seq_type": seq_type}
        _original(self, first, second, msg, **named)

    return probed if both else plain


def _close(original: Any, wanted: bool) -> Any:
    def close(
        self: Any,
        first: Any,
        second: Any,
        places: Any = None,
        msg: Any = None,
        delta: Any = None,
        _original: Any = original,
        _wanted: bool = wanted,
    ) -> Any:
        if not _odd("==", first, second) or (delta is not None and places is not None):
            _original(self, first, second, places, msg, delta)
            return
        near = compared("==", first, second, True)
        if not near and delta is not None:
            near = compared("<=", abs(first - second), delta, True)
        elif not near:
            near = compared("==", round(abs(first - second), 7 if places is None else places), 0, True)
        if near is not _wanted:
            raise self.failureException(self._formatMessage(msg, f"{first!r} and {second!r}: close is {near}"))
        return None

    return close
