"""What the driver holds on to while foreign code runs, so that it sees what was exchanged."""

from __future__ import annotations

import ast
import builtins
import importlib
import marshal
import re
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
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


_CHANGEABLE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_TRAPS = frozenset({"__getattribute__", "__getattr__", "__setattr__"})
_SET_LATE = frozenset({"__abstractmethods__", "_abc_impl", "__dict__", "__weakref__", "__annotations__", "__doc__"})


def vars_of(value: Any) -> Any:
    """The dictionary of an object, past what its class makes of attributes."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


Held = tuple[Mapping[str, Any], str, Any, CodeType | None, str]  # names, name, value, its code, label


def seal(also: Iterable[str]) -> list[Held]:
    """What pytest, pluggy, builtins and the named modules are made of.

    A name that holds None or plain data may change, and isn't held.
    """
    held: list[Held] = []
    visited: set[int] = set()
    tops = {name.partition(".")[0] for name in also} - _UNSTEADY
    inside = [name for name in sys.modules if name.partition(".")[0] in tops]
    modules = watched_modules([*also, *(name for name in inside if name not in also)])
    standard = sys.stdlib_module_names - _UNSTEADY

    def hold(label: str, names: Mapping[str, Any]) -> None:
        for name, value in list(names.items()):
            function = plain(value)
            code = function.__code__ if type(function) is FunctionType else None
            if code or issubclass(type(value), type | BuiltinFunctionType | ModuleType):
                held.append((names, name, value, code, f"{label}.{name}"))
            if issubclass(type(value), type) and id(value) not in visited:
                top = str(value.__module__).partition(".")[0]
                if value.__module__ in modules or (top in standard and top != "builtins"):
                    visited.add(id(value))
                    hold(f"{value.__module__}.{value.__qualname__}", vars(value))
                    if top in standard and value.__flags__ & _CHANGEABLE:  # a new name may cover one of its bases'
                        covered = {name for base in value.__mro__[1:] for name in vars(base)} | _TRAPS
                        held.extend(
                            (vars(value), name, None, None, f"{value.__module__}.{value.__qualname__}.{name}")
                            for name in covered - vars(value).keys() - _SET_LATE
                        )
            elif label in sealed and type(value).__module__ in modules and type(vars_of(value)) is dict:
                names_of = vars_of(value)  # `json._default_encoder.encode = …`
                methods = {name for base in type(value).__mro__ for name in vars(base)} - names_of.keys()
                held.extend((names_of, one, None, None, f"{label}.{name}.{one}") for one in methods)

    sealed = set(modules) - {name for name in modules if name.partition(".")[0] in WATCHED}
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
    steady = ("send", "emit", "trusted", "written", "modules", "parameters", "callers", "others")
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
        return content(dict(item.callspec.params))
    except (AttributeError, ValueError):
        return None


_WRITTEN = ("decimal", "fractions", "datetime", "uuid", "pathlib", "ipaddress", "zoneinfo")
_HOLDERS = (list, tuple, set, frozenset, dict, deque, defaultdict, OrderedDict, Counter, MappingProxyType)
_MOST = 20_000  # parts of one value


def content(value: Any, own: str = "") -> bytes:
    """What a value consists of: plain data by content, instances of the module `own` too, code by identity."""
    try:
        return marshal.dumps(value, 2)  # version 2 doesn't depend on reference counts
    except ValueError:
        found: list[bytes] = []
        _walk(value, own, found, [])
        return b"".join(found)


def _walk(value: Any, own: str, found: list[bytes], above: list[int]) -> None:
    kind = type(value)
    found.append(f"<{id(kind)}".encode())
    if id(value) in above or len(above) > 40 or len(found) > _MOST:
        found.append(b"^")
        return
    above.append(id(value))
    if kind is FunctionType:
        found.append(f"f{id(value.__code__)}".encode())
        for part in (value.__defaults__, value.__kwdefaults__):
            _walk(part, own, found, above)
    elif plain(value) is not value:
        _walk(plain(value), own, found, above)
    elif kind in _HOLDERS:
        parts = [one for pair in value.items() for one in pair] if isinstance(value, Mapping) else list(value)
        if kind in (set, frozenset):
            several: list[list[bytes]] = [[] for _ in parts]
            for one, into in zip(parts, several, strict=True):
                _walk(one, own, into, above)
            found += sorted(b"".join(one) for one in several)
        else:
            for one in parts:
                _walk(one, own, found, above)
    elif kind is re.Pattern:
        found.append(marshal.dumps((value.pattern, value.flags), 2))
    elif kind.__module__ in _WRITTEN:
        found.append(repr(value).encode("utf-8", "backslashreplace"))
    elif issubclass(kind, type):
        found.append(str(id(value)).encode())
    elif kind.__module__ == own or issubclass(kind, Enum | BaseException) or kind.__module__ == "types":
        if kind.__module__ == own and issubclass(kind, list | tuple | dict | set | frozenset | int | str | float):
            plainly: Any = next(
                one for one in (list, tuple, dict, set, frozenset, int, str, float) if issubclass(kind, one)
            )
            try:
                _walk(plainly(value), own, found, above)
            except Exception:
                found.append(b"?")
        names = dict(vars_of(value) or {})
        for above_it in kind.__mro__:
            for name in _slots(above_it):
                slot = vars(above_it).get(name)
                if type(slot) is MemberDescriptorType:
                    try:
                        names[name] = slot.__get__(value)
                    except AttributeError:
                        continue
        for name in sorted(map(str, names)):
            if not (issubclass(kind, Enum) and name.startswith("__")):
                found.append(name.encode("utf-8", "backslashreplace"))
                _walk(names.get(name), own, found, above)
    else:
        try:
            found.append(marshal.dumps(value, 2))
        except ValueError:
            found.append(str(id(value)).encode())
    found.append(b">")
    above.pop()


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(map(str, slots))


def callers(hooks: Any) -> dict[str, tuple[Any, ...]]:
    """For each hook what calls it, how, and its implementations, of which more come while pytest starts."""
    return {
        name: (type(caller), getattr(caller, "_hookexec", None), *(one.function for one in caller.get_hookimpls()))
        for name, caller in list(vars(hooks).items())
        if not name.startswith("_")
    }


_PASSING = _SET_LATE | {"__module__", "__static_attributes__", "__firstlineno__", "__type_params__"}


def frozen_values(module: ModuleType) -> dict[str, tuple[int, bytes | int]]:
    """What a test module consists of: each name's object, and its content (data) or code (functions).

    The same for the names of the classes that it defines, as CLASS.NAME.
    """
    found: dict[str, tuple[int, bytes | int]] = {}
    own = vars(module).get("__name__", "")
    for name, value in list(vars(module).items()):
        if name.startswith("__"):
            continue
        found[name] = (id(value), content(value, own))
        if issubclass(type(value), type) and vars(type)["__module__"].__get__(value) == own:
            for inner, part in list(type.__dict__["__dict__"].__get__(value).items()):
                if inner not in _PASSING:
                    found[f"{name}.{inner}"] = (id(part), content(part, own))
    return found


def covers(module: ModuleType, name: str) -> bool:
    """Whether a class's attribute, as CLASS.NAME, stands before an inherited one; unittest's own notes don't count."""
    outer, _, inner = name.partition(".")
    kind = vars(module).get(outer)
    if not issubclass(type(kind), type) or inner.startswith("_class"):
        return False
    bases = type.__dict__["__mro__"].__get__(kind)[1:]
    return any(inner in type.__dict__["__dict__"].__get__(base) for base in bases)
