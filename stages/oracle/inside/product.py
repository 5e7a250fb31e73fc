"""The code under test, alone in a sandbox: does what the oracle's tests ask on an inherited socket.

Executed as a file. Standard input holds one JSON object (`tree`, `lines`, `environment`). There is no oracle here and
no secret: code that takes the socket and answers by itself gives values, as a function does.

A request is {"id", "op", …}; an answer is {"id", "ok": value}, {"id", "raise": exception} or {"id", "no": what}. What
is no plain value stays here and goes out as a number, with a description of its class.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if path.startswith((sys.prefix, sys.base_prefix, sys.exec_prefix, "/usr"))]

import dataclasses
import importlib
import importlib.util
import inspect
import json
import operator
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

MOST_HELD = 200_000
MOST_DRAWN = 100_000  # elements of an iterator, which is run to its end


def sibling(name: str) -> Any:
    """A module beside this file; the folder itself never gets on the path."""
    spec = importlib.util.spec_from_file_location(f"_product_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


codec, programs, runtime = sibling("codec"), sibling("programs"), sibling("runtime")

SPECIAL: dict[str, Callable[..., Any]] = {
    "len": len, "bool": bool, "str": str, "repr": repr, "iter": iter, "next": next, "contains": operator.contains,
    "getitem": operator.getitem, "setitem": operator.setitem, "delitem": operator.delitem,
    "enter": lambda one: type(one).__enter__(one),
    "exit": lambda one, error: type(one).__exit__(one, None if error is None else type(error), error, None),
    "fields": lambda one: tuple(getattr(one, field.name) for field in dataclasses.fields(one) if field.compare),
}  # fmt: skip


class Held:
    """Objects that stay here, by number."""

    def __init__(self, tree: str) -> None:
        self.tree = tree.rstrip("/") + "/"
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.replaced: dict[tuple[int, str], Any] = {}
        self.flattened = False  # whether the answer in the making says less than the value did

    def number(self, one: Any) -> int:
        if id(one) not in self.numbers:
            if len(self.objects) >= MOST_HELD:
                raise codec.Uncarried("one object too many")
            self.numbers[id(one)] = len(self.objects)
            self.objects.append(one)
        return self.numbers[id(one)]

    def encode(self, value: Any) -> Any:
        return codec.encode(value, self.other)

    def decode(self, sent: Any) -> Any:
        def other(one: list[Any], decode: Callable[[Any], Any]) -> Any:
            if one[0] == "M":
                return sys.modules[one[1]]
            if one[0] == "R":
                return tuple.__new__(self.objects[one[1]], [decode(inner) for inner in one[2:]])
            if one[0] == "G":
                return iter([decode(inner) for inner in one[1:]])
            if one[0] == "X":
                kind = self.objects[one[1]] if len(one) == 3 else vars(sys.modules[one[1]])[one[2]]
                return kind(*decode(one[-1]))
            return self.objects[one[1]]

        return codec.decode(sent, other)

    def other(self, one: Any, encode: Callable[[Any], Any]) -> Any:
        """What isn't plain. None: a class of its own below a built-in one, which goes as its base."""
        if isinstance(one, type):
            return ["K", self.named(one)]
        if isinstance(one, BaseException):
            return ["X", *self.raised(one, encode)]
        if isinstance(one, ModuleType):
            return ["M", one.__name__] if _origin(one).startswith(self.tree) else self.opaque(one)
        if isinstance(one, tuple) and isinstance(getattr(type(one), "_fields", None), tuple):
            return ["R", self.described(type(one)), *(encode(inner) for inner in tuple.__iter__(one))]
        if isinstance(one, list | tuple | set | frozenset | dict | int | str | float | bytes):
            self.flattened |= type(one) not in (list, tuple, set, frozenset, dict)
            return None
        if callable(one) and (isinstance(one, FunctionType | BuiltinFunctionType | MethodType) or _wrapped(one)):
            waits = inspect.iscoroutinefunction(one)
            return ["F", self.number(one), *(str(getattr(one, n, "")) for n in ("__module__", "__name__")), waits]
        if isinstance(one, Iterator) and type(one).__module__ in ("builtins", "itertools"):
            return self.drawn(one, encode)
        return self.opaque(one)

    def opaque(self, one: Any) -> list[Any]:
        return ["O", self.number(one), self.described(type(one))]

    def drawn(self, one: Iterator[Any], encode: Callable[[Any], Any]) -> list[Any]:
        """An iterator, run to its end: its values, and what it raised instead of going on."""
        values: list[Any] = []
        self.flattened |= type(one) is GeneratorType
        try:
            for value in one:
                if len(values) >= MOST_DRAWN:
                    raise codec.Uncarried(f"an iterator with more than {MOST_DRAWN} elements")
                values.append(value)
        except codec.Uncarried:
            raise
        except BaseException as error:
            return ["G", [encode(value) for value in values], ["X", *self.raised(error, encode)]]
        return ["G", [encode(value) for value in values], None]

    def described(self, kind: type) -> list[Any]:
        """[number, how it compares, module, name, bases, fields]: n named tuple, d by fields, i by identity, u else."""
        compares = getattr(kind, "__eq__", None)
        code = getattr(compares, "__code__", None)
        if issubclass(kind, tuple) and isinstance(getattr(kind, "_fields", None), tuple):
            how, fields = "n", [str(name) for name in getattr(kind, "_fields", ())]
        elif dataclasses.is_dataclass(kind) and code is not None and code.co_filename == "<string>":
            how, fields = "d", []
        else:
            how, fields = "i" if compares is object.__eq__ else "u", []
        bases = [one for one in kind.__bases__ if not _standard(one) or issubclass(one, BaseException)]
        module, name = str(kind.__module__), str(kind.__qualname__)
        return [self.number(kind), how, module, name, [self.named(one) for one in bases], fields]

    def named(self, kind: type) -> Any:
        """Exceptions of the standard library by name, other classes by description."""
        if _standard(kind) and issubclass(kind, BaseException):
            return ["B", kind.__module__, kind.__qualname__]
        return self.described(kind)

    def raised(self, error: BaseException, encode: Callable[[Any], Any], deep: int = 3) -> list[Any]:
        """[class, arguments, text, attributes, cause]; what can't be carried of these is left out."""

        def tried(value: Any) -> list[Any]:
            try:
                return [encode(value)]
            except codec.Uncarried:
                return []

        found = {name: tried(getattr(error, name, None)) for name in dir(error) if _tells(error, name)}
        cause = error.__cause__
        return [
            self.named(type(error)),
            (tried(tuple(error.args)) or [None])[0],
            str(error),
            {name: value[0] for name, value in found.items() if value},
            self.raised(cause, encode, deep - 1) if cause is not None and deep else None,
        ]


def _standard(kind: type) -> bool:
    return str(kind.__module__).partition(".")[0] in sys.stdlib_module_names


def _tells(error: BaseException, name: str) -> bool:
    return not name.startswith("_") and name not in dir(Exception) and not callable(getattr(error, name, None))


def _wrapped(one: Any) -> bool:
    return hasattr(one, "__wrapped__") or type(one).__module__ == "functools"


def _origin(module: ModuleType) -> str:
    return str(getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", [])), ""))


def perform(held: Held, asked: dict[str, Any]) -> dict[str, Any]:
    """Do what one request says. Gives the answer but for its number; raises what the tree's code raises."""
    operation = asked["op"]
    if operation == "import":
        module = importlib.import_module(asked["name"])
        return {"ok": hasattr(module, "__path__")}
    if operation in programs.OPERATIONS:
        return {"ok": held.encode(programs.OPERATIONS[operation](**held.decode(asked["with"])))}
    target = held.decode(asked["target"])
    if operation == "get":
        name = asked["name"]
        if isinstance(target, ModuleType) and name == "__all__" and not hasattr(target, name):
            return {"ok": held.encode([key for key in vars(target) if not key.startswith("_")])}
        return {"ok": held.encode(getattr(target, name))}
    if operation == "set":
        value, place = held.decode(asked["value"]), (held.number(target), asked["name"])
        if hasattr(target, asked["name"]):
            held.replaced.setdefault(place, getattr(target, asked["name"]))
        setattr(target, asked["name"], value)
        return {"ok": None}
    if operation == "delete":
        place = (held.number(target), asked["name"])
        if place in held.replaced:  # how pytest takes back what it set on a module
            setattr(target, asked["name"], held.replaced.pop(place))
        else:
            delattr(target, asked["name"])
        return {"ok": None}
    given, named = held.decode(asked["args"])
    if operation == "special":
        return {"ok": held.encode(SPECIAL[asked["name"]](target, *given))}
    changeable = [one for one in (*given, *named.values()) if isinstance(one, list | dict | set | bytearray)]
    before = json.dumps(held.encode(changeable)) if changeable else ""
    failed: dict[str, Any] = {}
    try:
        result = target(*given, **named)
        if inspect.iscoroutine(result):
            import asyncio  # which costs a tenth of a second

            result = asyncio.run(result)
    except BaseException as error:
        result, failed = None, {"raise": held.raised(error, held.encode)}
    same = [key for key, one in [*enumerate(given), *named.items()] if one is result and changeable]
    answer = failed or ({"same": same[0]} if same else {"ok": held.encode(result)})
    if changeable and json.dumps(held.encode(changeable)) != before:  # a function may change what it is given
        answer["args"] = held.encode((given, named))
    return answer


def serve(channel: socket.socket, held: Held) -> None:
    """Answer one request after the other until the tests' side closes the socket."""
    own = os.getpid()
    while True:
        asked = codec.unframe(channel.recv)
        held.flattened = False
        try:
            answer = perform(held, asked)
        except codec.Uncarried as error:
            answer = {"no": str(error)}
        except BaseException as error:
            try:
                answer = {"raise": held.raised(error, held.encode)}
            except BaseException as other:  # an exception whose own methods fail
                answer = {"no": f"an exception of {codec.kind(error)}, which raises {codec.kind(other)}"}
        if os.getpid() != own:  # a child that came back from a function isn't the one that was asked
            os._exit(0)
        if held.flattened:
            answer["flattened"] = True
        try:
            whole = codec.frame({"id": asked["id"], **answer})
        except (codec.Uncarried, ValueError) as error:
            whole = codec.frame({"id": asked["id"], "no": str(error)[:200]})
        channel.sendall(whole)


def watch(tree: str, lines: Any, fd: int) -> None:
    """Before any line of the tree runs: tell on a pipe what the patch's lines do, see runtime.py."""

    def emit(record: str) -> None:
        rest = f"!ran:{record}"[:4000].encode("ascii", "backslashreplace") + b"\n"
        while rest:
            rest = rest[os.write(fd, rest) :]

    runtime.watch(tree, lines, emit)


def main() -> None:
    channel = socket.socket(fileno=int(os.environ.pop("WEIGHBRIDGE_CHANNEL_FD")))
    channel.set_inheritable(False)
    told = int(os.environ.pop("WEIGHBRIDGE_RESULT_FD"))
    os.set_inheritable(told, False)
    given = json.loads(sys.stdin.buffer.read())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    programs.enter(given["tree"])
    sys.modules["__main__"] = ModuleType("__main__")
    watch(given["tree"], given["lines"], told)
    if given["environment"]:
        sys.path[:] = [path for path in sys.path if not path.endswith(("site-packages", "dist-packages"))]
        sys.path.append(given["environment"])
    sys.path.append(given["tree"])
    try:
        serve(channel, Held(given["tree"]))
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
