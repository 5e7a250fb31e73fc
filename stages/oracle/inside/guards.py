"""What the driver holds on to while foreign code runs, so that it sees what was exchanged."""

from __future__ import annotations

import ast
import builtins
import importlib
import marshal
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

WATCHED = ("pytest", "_pytest", "pluggy")
_UNSTEADY = frozenset({"sys", "warnings", "logging", "threading", "signal"})  # exchanged in the course of any test run


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and all that are nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def plain(function: Any) -> Any:
    """The function below classmethod, staticmethod and property, by type alone: attributes may be traps."""
    kind = type(function)
    if kind in (classmethod, staticmethod, MethodType):
        return function.__func__
    return function.fget if kind is property else function


def layers(value: Any) -> Iterator[FunctionType]:
    """The functions in a value: below decorators, and below pytest's marks of a fixture."""
    waiting = [value]
    while waiting:
        one = plain(waiting.pop())
        if type(one) is FunctionType:
            yield one
        if type(one) is FunctionType or type(one).__module__ in ("_pytest.fixtures", "_pytest.compat"):
            names = getattr(one, "__dict__", {})
            waiting += [names[key] for key in ("__wrapped__", "_fixture_function", "obj") if key in names]
            waiting += [names["__pytest_wrapped__"]] if "__pytest_wrapped__" in names else []


def watched_modules(also: Iterable[str] = ()) -> dict[str, ModuleType]:
    """pytest's modules, and those named."""
    names = [name for name in sys.modules if name.partition(".")[0] in WATCHED]
    return {name: sys.modules[name] for name in (*names, *also) if name in sys.modules}


def import_standard(sources: Iterable[str]) -> list[str]:
    """Import what these sources import from the standard library, before a tree can. Returns the names."""
    wanted: set[str] = set()
    for source in sources:
        try:
            nodes = list(ast.walk(ast.parse(source)))
        except (SyntaxError, ValueError):
            continue
        for node in nodes:
            if isinstance(node, ast.Import):
                wanted.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                wanted.add(node.module)
                wanted.update(f"{node.module}.{alias.name}" for alias in node.names)
    found = []
    for name in sorted(wanted):
        if name.partition(".")[0] in sys.stdlib_module_names and name.partition(".")[0] not in _UNSTEADY:
            try:
                importlib.import_module(name)
                found.append(name)
            except ImportError:
                continue
    return found


Held = tuple[Mapping[str, Any], str, Any, CodeType | None, str]  # names, name, value, its code, label


def seal(also: Iterable[str]) -> list[Held]:
    """What pytest, pluggy, builtins and the named modules are made of.

    A name that holds None or plain data may change, and isn't held.
    """
    held: list[Held] = []
    visited: set[int] = set()
    modules = watched_modules(also)

    def hold(label: str, names: Mapping[str, Any]) -> None:
        for name, value in list(names.items()):
            function = plain(value)
            code = function.__code__ if type(function) is FunctionType else None
            if code or issubclass(type(value), type | BuiltinFunctionType | ModuleType):
                held.append((names, name, value, code, f"{label}.{name}"))
            if issubclass(type(value), type) and value.__module__ in modules and id(value) not in visited:
                visited.add(id(value))
                hold(f"{value.__module__}.{value.__qualname__}", vars(value))

    for label, module in modules.items():
        held.append((sys.modules, label, module, None, f"sys.modules.{label}"))
        hold(label, vars(module))
    constants = [(name, value) for name, value in vars(builtins).items() if name != "_"]
    held += [(vars(builtins), name, value, None, f"builtins.{name}") for name, value in constants]
    return held


def sealed_modules(modules: Iterable[ModuleType]) -> list[Held]:
    """The driver's own modules, every name of them."""
    return [
        (vars(module), name, value, None, f"driver.{name}")
        for module in modules
        for name, value in vars(module).items()
    ]


def sealed_object(thing: object) -> list[Held]:
    """The attributes of an object that stay as they are: functions and containers by identity."""
    steady = ("send", "emit", "trusted", "written", "modules", "parameters", "callers")
    return [(vars(thing), name, vars(thing)[name], None, f"driver.{name}") for name in steady]


def replacements() -> frozenset[int]:
    """Values that pytest itself puts in place of its own while it starts."""
    return frozenset(id(value) for value in vars(sys.modules["_pytest.legacypath"]).values())


def broken(held: list[Held], allowed: frozenset[int], codes_too: bool) -> list[str]:
    """Labels of what was exchanged or removed. New names are fine: modules are loaded late.

    Exchanging a function's code is audited, and noted when it happens, hence `codes_too` only now and then.
    """
    found = []
    for names, name, value, code, label in held:
        now = names.get(name)
        if (now is not value and id(now) not in allowed) or (
            codes_too and code is not None and plain(value).__code__ is not code
        ):
            found.append(label)
    return found


def trusted_codes(own: Iterable[ModuleType]) -> dict[int, CodeType]:
    """Code objects that may stand on the stack while a result is recorded, by identity."""
    found: dict[int, CodeType] = {}
    for module in (*watched_modules().values(), *own):
        values = list(vars(module).values())
        values += [member for value in values if isinstance(value, type) for member in list(vars(value).values())]
        for value in values:
            for function in layers(value):
                found.update((id(code), code) for code in codes(function.__code__))
    return found


def code_of(function: Any) -> CodeType | None:
    """The code that a test, fixture or hook implementation runs."""
    code: CodeType | None = getattr(plain(function), "__code__", None)
    return code


def overridden(item: Any) -> bool:
    """Whether a method of a test item was covered by an attribute of the item itself."""
    methods = {name for kind in type(item).__mro__ for name, value in vars(kind).items() if type(value) is FunctionType}
    return bool(methods & vars(item).keys())


def fixtures(item: Any) -> list[tuple[str, Any]]:
    info = getattr(item, "_fixtureinfo", None)
    return [(name, one) for name, many in getattr(info, "name2fixturedefs", {}).items() for one in many]


def parameters(item: Any) -> bytes | None:
    """The parameters of a test, as far as they are plain data."""
    try:
        return marshal.dumps(dict(item.callspec.params), 2)
    except (AttributeError, ValueError):
        return None


def callers(hooks: Any) -> dict[str, tuple[Any, ...]]:
    """For each hook what calls it, how, and its implementations, of which more come while pytest starts."""
    return {
        name: (type(caller), getattr(caller, "_hookexec", None), *(one.function for one in caller.get_hookimpls()))
        for name, caller in list(vars(hooks).items())
        if not name.startswith("_")
    }


def frozen_values(module: ModuleType) -> dict[str, tuple[int, bytes | int]]:
    """What a test module consists of: each name's object, and its content (plain data) or code (functions)."""
    found: dict[str, tuple[int, bytes | int]] = {}
    for name, value in list(vars(module).items()):
        if name.startswith("__"):
            continue
        try:
            found[name] = (id(value), marshal.dumps(value, 2))  # version 2 doesn't depend on reference counts
        except ValueError:
            code = code_of(value) if type(value) is FunctionType else None
            found[name] = (id(value), id(code))
    return found
