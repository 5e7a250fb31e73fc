"""The tests' side of the boundary: asks the code under test over a socket, and rebuilds what comes back.

Nothing that is read is executed. Plain values are built anew as built-in types; everything else is a `Remote` of ours,
which never equals a plain value, so that no object of the tree takes part in a comparison. Where something can't cross,
or the other side ends or answers with nonsense, an event says so, and no test can turn it into a pass.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOST_SAID = 160


class Boundary(BaseException):
    """What a test gets that asked for something that can't cross; no `except Exception` takes it for a result."""


def shown(text: object) -> str:
    """Text of the other side, on one line and short."""
    return "".join(one if one.isprintable() else "?" for one in str(text)[:MOST_SAID])


class Channel:
    """One request at a time, each with its answer, until the deadline.

    With `carry` false the other side works on copies: what it changes in its arguments isn't changed here.
    """

    def __init__(
        self, codec: Any, build: Any, handle: int, emit: Callable[[str], object], seconds: float, carry: bool = True
    ) -> None:
        self.codec, self.emit, self.carry = codec, emit, carry
        self.socket = socket.socket(fileno=handle)
        self.socket.set_inheritable(False)
        self.deadline = time.monotonic() + seconds
        self.lock = threading.Lock()
        self.asked = 0
        self.over = ""
        self.builder = build(self)

    def refuse(self, what: str) -> Boundary:
        """An event, and the error that goes with it."""
        self.emit(f"product_uncarried:{shown(what)}")
        return Boundary(f"{shown(what)} can't cross between the tests and the code under test")

    def claim(self, what: str, one: Any) -> None:
        """Note a yes or no of the other side that a test rests on; the reference solution's own are nobody's fault."""
        self.emit(f"claim:{what} of {shown(type(one).__module__)}.{shown(type(one).__qualname__)}")

    def ask(self, operation: str, **words: Any) -> Any:
        """The value of an answer. Raises what the tree's code raised, or Boundary."""
        answer = self.exchange({"op": operation, **words})
        return self.read(answer, lambda: self.decode(answer["ok"]))

    def call(self, target: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call something over there. Lists, dictionaries and sets that it changed are changed here too."""
        answer = self.exchange({"op": "call", "target": target, "args": self.encode((given, named))})
        if "args" in answer and self.carry:
            # Unless the reference solution does this too: what a test compares with may be what was changed.
            self.emit(f"oracle_data:arguments in {shown(os.environ.get('PYTEST_CURRENT_TEST', ''))}")
            self.read(answer, lambda: renew((given, named), self.decode(answer["args"])), raising=False)
        if "same" in answer:  # what it was given, and no copy
            return self.read(answer, lambda: (named if type(answer["same"]) is str else given)[answer["same"]])
        return self.read(answer, lambda: self.decode(answer["ok"]))

    def read(self, answer: dict[str, Any], value: Callable[[], Any], raising: bool = True) -> Any:
        try:
            if "no" in answer:
                raise self.refuse(answer["no"])
            if "raise" in answer and raising:
                error = self.builder.exception(answer["raise"])
            else:
                return value()
        except (self.codec.Malformed, KeyError, IndexError, TypeError, ValueError, AttributeError) as fault:
            raise self.end(f"product_malformed:{type(fault).__name__}") from None
        raise error

    def exchange(self, asked: dict[str, Any]) -> dict[str, Any]:
        with self.lock:
            if self.over:
                raise Boundary(self.over)
            self.asked += 1
            try:
                self.socket.settimeout(max(0.001, self.deadline - time.monotonic()))
                self.socket.sendall(self.codec.frame({"id": self.asked, **asked}))
                answer = self.codec.unframe(self.receive)
            except self.codec.Uncarried as error:
                raise self.refuse(str(error)) from None
            except TimeoutError:
                raise self.end("product_late") from None
            except (EOFError, OSError):
                raise self.end("product_ended") from None
            except self.codec.Malformed:
                raise self.end("product_malformed:message") from None
            if type(answer) is not dict or answer.get("id") != self.asked:
                raise self.end("product_malformed:row")
            if "flattened" in answer:  # a class below a built-in one went as its base, a generator as its elements
                self.emit("flattened")
            return answer

    def receive(self, size: int) -> bytes:
        self.socket.settimeout(max(0.001, self.deadline - time.monotonic()))
        return self.socket.recv(size)

    def end(self, event: str) -> Boundary:
        """Nothing more is asked: what would come is no answer any more."""
        self.over = f"the code under test is gone ({event})"
        self.emit(event)
        self.socket.close()
        return Boundary(self.over)

    def encode(self, value: Any) -> Any:
        try:
            return self.codec.encode(value, self.builder.sent)
        except self.codec.Uncarried as error:
            raise self.refuse(f"an argument: {error}") from None

    def decode(self, sent: Any) -> Any:
        return self.codec.decode(sent, self.builder.built)


def renew(old: Any, new: Any) -> Any:
    """The old containers with the new content, as far as their kinds agree; else the new value."""
    if type(old) is not type(new):
        return new
    if type(old) in (list, tuple) and len(old) == len(new):
        inner = [renew(one, other) for one, other in zip(old, new, strict=True)]
        if type(old) is tuple:
            return old if all(one is other for one, other in zip(old, inner, strict=True)) else new
        old[:] = inner
    elif type(old) in (list, bytearray):
        old[:] = new
    elif type(old) is dict:
        kept = {key: renew(old[key], value) if key in old else value for key, value in new.items()}
        old.clear()
        old.update(kept)
    elif type(old) is set:
        old.clear()
        old.update(new)
    else:
        return new
    return old


class Finder:
    """An import hook behind all others: modules that the tree offers are stand-ins."""

    def __init__(self, channel: Channel, offers: list[str]) -> None:
        self.channel, self.offers = channel, frozenset(offers)
        channel.builder.offers = self.offers

    def find_spec(self, name: str, *_: Any) -> Any:
        if name.partition(".")[0] not in self.offers:
            return None
        try:
            package = self.channel.ask("import", name=name)
        except ModuleNotFoundError as error:
            if error.name == name:
                return None
            raise
        return ModuleSpec(name, self, is_package=package is True)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> ModuleType:
        return Module(self.channel, spec.name)

    def exec_module(self, _: ModuleType) -> None:
        return None


class Module(ModuleType):
    """Stands for a module of the tree. What it holds is asked for each time."""

    def __init__(self, channel: Channel, name: str) -> None:
        super().__init__(name)
        vars(self)["__channel__"] = channel

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__all__", "__version__", "__author__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        channel: Channel = vars(self)["__channel__"]
        return channel.ask("get", target=["M", self.__name__], name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__") or isinstance(value, Module):
            vars(self)[name] = value
            return
        channel: Channel = vars(self)["__channel__"]
        channel.ask("set", target=["M", self.__name__], name=name, value=channel.encode(value))

    def __delattr__(self, name: str) -> None:
        vars(self)["__channel__"].ask("delete", target=["M", self.__name__], name=name)


def function(channel: Channel, target: list[Any], module: str, name: str, waits: bool) -> Callable[..., Any]:
    """A function here that calls one over there; a coroutine runs to its end in one step."""

    async def waiting(*given: Any, **named: Any) -> Any:
        return channel.call(target, given, named)

    def direct(*given: Any, **named: Any) -> Any:
        return channel.call(target, given, named)

    remote: Any = waiting if waits else direct
    remote.__module__, remote.__name__, remote.__qualname__ = module, name, name
    called: Callable[..., Any] = remote
    return called
