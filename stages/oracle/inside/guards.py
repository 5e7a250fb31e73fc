"""What the driver watches while foreign code runs: exchanged code, and reaches for what isn't its own."""

from __future__ import annotations

import ast
import builtins
import importlib
import marshal
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

WATCHED = ("pytest", "_pytest", "pluggy")
_UNSTEADY = frozenset({"sys", "warnings", "logging", "threading", "signal"})  # exchanged in the course of any test run
_REACHING = {
    "gc.get_objects": "gc",
    "gc.get_referrers": "gc",
    "gc.get_referents": "gc",
    "sys._current_frames": "frames",
    "sys._current_exceptions": "frames",
    "sys.settrace": "trace",
    "sys.setprofile": "trace",
    "sys.addaudithook": "audit",
    "code.__new__": "code",
}  # fmt: skip
_FRAMES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame"})
_FUNCTION = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
_PROC = ("/mem", "/fd", "/maps", "/environ", "/cmdline", "/task")


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
            function = plain(value)
            if type(function) is FunctionType:
                wrapped = vars(function).get("__wrapped__", function)
                for one in (function, wrapped):
                    if type(one) is FunctionType:
                        found.update((id(code), code) for code in codes(one.__code__))
    return found


def hook_code(function: Any) -> CodeType | None:
    """The code that a hook implementation runs."""
    code: CodeType | None = getattr(plain(function), "__code__", None)
    return code


def frozen_values(module: ModuleType) -> dict[str, bytes | int]:
    """What a test module consists of: plain data by content, functions and classes by identity."""
    found: dict[str, bytes | int] = {}
    for name, value in list(vars(module).items()):
        if name.startswith("__") or name.startswith("@"):
            continue
        try:
            found[name] = marshal.dumps(value, 2)  # version 2 doesn't depend on reference counts
        except ValueError:
            found[name] = id(value)
            if isinstance(value, FunctionType):
                found[f"{name}()"] = id(value.__code__)
    return found


def auditor(
    emit: Callable[[str], None],
    oracle: str,
    libraries: tuple[str, ...],
    getframe: Callable[[int], Any],
) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that notes when a tree's code reaches for frames, the collector or the oracle.

    A reach counts for the code that does it: through `inspect` it is the caller's, through a logger it isn't.
    """
    busy = [False]

    def origin(direct: bool) -> bool:
        """Whether the nearest frame outside the libraries (with `direct`: the nearest) is none of ours."""
        frame = getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if direct and name.endswith(("/inspect.py", "/traceback.py")):
                frame = frame.f_back
                continue
            if not name.startswith(libraries) and not name.startswith("<frozen "):
                return not name.startswith(oracle)
            if direct:
                return False
            frame = frame.f_back
        return False

    def hook(event: str, args: tuple[Any, ...]) -> None:
        kind, direct = _REACHING.get(event), False
        if kind is None:
            if event == "sys._getframe":
                kind, direct = "frames", True
            elif event == "object.__getattr__":
                if args[1] not in _FRAMES:
                    return
                kind, direct = "frames", True
            elif event == "object.__setattr__":
                if args[1] not in _FUNCTION:
                    return
                kind = "code"
            elif event in ("open", "os.listdir", "os.scandir"):
                kind = wanted(args[0])
                if kind is None:
                    return
            elif event.startswith("ctypes."):
                kind = "ctypes"
            else:
                return
        if busy[0]:
            return
        busy[0] = True
        try:
            if origin(direct):
                emit(f"{kind}:{event}")
        finally:
            busy[0] = False

    def wanted(path: Any) -> str | None:
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str):
            return None
        path = os.path.abspath(path)
        if path == oracle.rstrip("/") or path.startswith(oracle):
            return "oracle"
        if path.startswith("/proc/") and any(part in path for part in _PROC):
            return "process"
        return None

    return hook
