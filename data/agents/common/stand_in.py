"""A stand-in for the parts of pytest that plain test functions use, so that trials need no pytest."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable
from typing import Any


class Skipped(Exception):
    """A test asked to be skipped."""


class Raises:
    """`with raises(E, match=…) as info`."""

    def __init__(
        self, expected: type[BaseException] | tuple[type[BaseException], ...], match: str | None
    ) -> None:
        self.expected, self.match = expected, match
        self.value: Any = None
        self.type: Any = None

    def __enter__(self) -> Raises:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: object) -> bool:
        assert kind is not None, f"DID NOT RAISE {self.expected}"
        if not issubclass(kind, self.expected):
            return False
        assert self.match is None or re.search(self.match, str(value)), (
            f"{value!r} doesn't match {self.match!r}"
        )
        self.value, self.type = value, kind
        return True


class Approx:
    """`value == approx(expected)` for numbers, and for lists, tuples and dictionaries of them."""

    def __init__(self, expected: Any, rel: float | None = None, abs: float | None = None, **_: Any) -> None:
        self.expected, self.rel, self.abs = expected, rel, abs

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, actual: object) -> bool:
        return self._near(actual, self.expected)

    def __repr__(self) -> str:
        return f"approx({self.expected!r})"

    def _near(self, actual: Any, expected: Any) -> bool:
        if isinstance(expected, dict):
            return actual.keys() == expected.keys() and all(
                self._near(actual[k], expected[k]) for k in expected
            )
        if isinstance(expected, list | tuple):
            return len(actual) == len(expected) and all(map(self._near, actual, expected))
        if actual == expected:
            return True
        tolerance = max((self.rel if self.rel is not None else 1e-6) * abs(expected), self.abs or 1e-12)
        return bool(abs(actual - expected) <= tolerance)


def _raises(expected: Any, *args: Any, match: str | None = None, **kwargs: Any) -> Any:
    if not args:
        return Raises(expected, match)
    with Raises(expected, match) as info:
        args[0](*args[1:], **kwargs)
    return info


def _skip(reason: str = "", **_: Any) -> None:
    raise Skipped(reason)


class _Mark:
    """Marks do nothing, with or without arguments."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self._apply

    @staticmethod
    def _apply(*args: Any, **_: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) else lambda function: function


def install() -> None:
    """Put the stand-in where `import pytest` finds it."""
    module = types.ModuleType("pytest")
    contents = {"raises": _raises, "approx": Approx, "mark": _Mark(), "skip": _skip, "fixture": _Mark._apply}
    for name, value in contents.items():
        setattr(module, name, value)
    sys.modules["pytest"] = module
