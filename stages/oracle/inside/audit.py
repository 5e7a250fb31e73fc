"""An audit hook (PEP 578) that notes when code reaches for what isn't its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

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
    # A child has no audit hook: it could read the oracle, or this process. Solutions whose reference starts one may.
    "subprocess.Popen": "child_process",
    "os.system": "child_process",
    "os.exec": "child_process",
    "os.posix_spawn": "child_process",
    "os.fork": "child_process",
    "os.forkpty": "child_process",
    "pty.spawn": "child_process",
}  # fmt: skip
_FRAMES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame"})
_FUNCTION = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
_PASSED_THROUGH = ("/inspect.py", "/traceback.py", "/ctypes/__init__.py")
_PROC = ("/mem", "/fd", "/maps", "/environ", "/cmdline", "/task")


def auditor(
    emit: Callable[[str], object],
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
            if direct and name.endswith(_PASSED_THROUGH):
                frame = frame.f_back
                continue
            if not name.startswith(libraries) and not name.startswith("<frozen "):
                return not name.startswith(oracle)
            if direct:
                return False
            frame = frame.f_back
        return False

    def hook(event: str, args: tuple[Any, ...]) -> None:
        kind, direct = _REACHING.get(event), event == "code.__new__"
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
                kind, direct = "code", True
            elif event in ("open", "os.listdir", "os.scandir"):
                kind = wanted(args[0])
                if kind is None:
                    return
            elif event.startswith("ctypes."):
                kind, direct = "ctypes", True
            elif event == "compile":  # code that says it is the oracle's, or a library's
                name = args[1]
                if not isinstance(name, str) or not name.startswith((oracle, *libraries)):
                    return
                if getframe(1).f_code.co_filename.endswith(("/ast.py", "importlib._bootstrap>", "_external>")):
                    return
                kind = "code"
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


_ABOUT = frozenset({"__dict__", "__annotations__", "__builtins__", "__getattr__"})  # the rest tells nothing of tests
_HINTS = ("/typing.py", "/dataclasses.py", "/typing_extensions.py")
_PICKLES = ("/pickle.py", "/shelve.py", "/copyreg.py", "/reduction.py")
_PICKLING = frozenset({"dump", "dumps", "load", "loads", "Pickler", "Unpickler"})


def stand_ins(
    emit: Callable[[str], object],
    oracle: str,
    libraries: tuple[str, ...],
    getframe: Callable[[int], Any],
) -> Callable[[ModuleType], ModuleType]:
    """Makes what stands in `sys.modules` for an oracle's module: empty in itself, it asks who is asking.

    Libraries and the oracle get what the module has. Code of the tree does, too, and it is noted. What `typing` and
    `pickle` look up for honest code of the tree isn't: classes that are no tests.
    """

    def keeping() -> Generator[Any, tuple[int, Any], None]:
        """The modules themselves, in a frame that can't be reached without an audited step."""
        kept: dict[int, Any] = {}
        methods: tuple[CodeType, ...] = ()
        answer: Any = None
        while True:
            key, given = yield answer
            answer = None
            if not methods:
                methods = given
            elif given is not None:
                kept.setdefault(key, given)
            elif getframe(1).f_code is methods[0]:
                outer = getframe(2).f_code
                answer = kept.get(key) if any(outer is one for one in methods[1:]) else None

    keeper = keeping()
    next(keeper)
    ask = keeper.send

    def real(thing: Any) -> Any:
        while True:
            try:
                return ask((id(thing), None))
            except ValueError:  # another thread is asking
                continue

    def asker() -> tuple[Any, str] | None:
        """The tree's frame that asks, and the file of the library that it asks through; None where it is no tree's."""
        frame, nearest = getframe(2), ""
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(oracle):
                return None
            if not name.startswith(libraries) and not name.startswith("<frozen "):
                return frame, nearest
            if not name.endswith("/inside/audit.py"):
                nearest = nearest or name
            frame = frame.f_back
        return None

    def is_test(value: Any) -> bool:
        return value.__name__.startswith("Test") or any(name.startswith("test") for name in dir(value))

    def hints(names: dict[str, Any]) -> dict[str, Any]:
        """What annotations are made of, without data and tests."""
        return {
            name: value
            for name, value in names.items()
            if (isinstance(value, type) and not is_test(value))
            or isinstance(value, BuiltinFunctionType)
            or type(value) is ModuleType
            or type(value).__module__ in ("typing", "types", "typing_extensions")
        }

    class StandIn(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            module = real(self)
            value = getattr(module, name)
            if name.startswith("__") and name not in _ABOUT:
                return value
            found = asker()
            if found is None:
                return value
            frame, nearest = found
            if name == "__dict__" and nearest.endswith(_HINTS):
                return hints(value)
            pickled = nearest.endswith(_PICKLES) or (not nearest and _PICKLING & set(frame.f_code.co_names))
            if not (pickled and isinstance(value, type) and not is_test(value)):
                emit(f"oracle:{module.__name__}.{name}")
            return value

        def __setattr__(self, name: str, value: object) -> None:
            module = real(self)
            if asker() is not None and not name.startswith("__"):
                emit(f"oracle:{module.__name__}.{name}")
            setattr(module, name, value)

        def __delattr__(self, name: str) -> None:
            module = real(self)
            if asker() is not None:
                emit(f"oracle:{module.__name__}.{name}")
            delattr(module, name)

        def __dir__(self) -> list[str]:
            return dir(real(self))

    members = [vars(StandIn)[name] for name in ("__getattribute__", "__setattr__", "__delattr__", "__dir__")]
    ask((0, tuple(one.__code__ for one in (real, *members) if type(one) is FunctionType)))

    def stand_in(module: ModuleType) -> ModuleType:
        made = StandIn(module.__name__)
        ask((id(made), module))
        return made

    return stand_in
