"""What objects of the other side become in the tests: stand-ins of classes that are made here."""

from __future__ import annotations

import builtins
import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

MOST_CLASSES = 2000
MOST_DRAWN = 100_000  # elements of an iterator that is handed over; the rest isn't
# Raising these would speak to the test machinery and not to a test.
_NOT_RAISED = frozenset({"KeyboardInterrupt", "GeneratorExit"})
_NOT_FROM = frozenset({"unittest", "bdb", "pdb", "doctest"})
_REFUSED = (
    "lt", "le", "gt", "ge", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "mod",
    "pow", "neg", "abs", "and", "or", "xor", "invert", "lshift", "rshift", "matmul", "iadd", "isub", "imul",
    "int", "float", "index", "round", "bytes", "format", "reduce_ex", "call_", "await", "aiter", "aenter", "reversed",
)  # fmt: skip


class RemoteType(type):
    """The class of stand-in classes: making an instance and asking for an attribute both happen over there."""

    def __new__(mcs, name: str, bases: tuple[type, ...], own: dict[str, Any]) -> RemoteType:
        if "_remote" not in own:  # a class statement of the tests
            raise _own(bases[0])[0].refuse(f"a subclass of {bases[0].__module__}.{bases[0].__qualname__}")
        return super().__new__(mcs, name, bases, own)

    def __call__(cls, *given: Any, **named: Any) -> Any:
        channel, number = _own(cls)
        one = channel.call(["O", number], given, named)
        if isinstance(one, Remote) and type(one)._how == "d":  # type: ignore[attr-defined]
            channel.builder.parts[_target(one)[1]] = (given, named)
        if isinstance(one, tuple) and isinstance(one, cls) and not _made_of(tuple(tuple.__iter__(one)), given, named):
            channel.claim("fields", one)  # all its instances could be equal
        return one

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        channel, number = _own(cls)
        return channel.ask("get", target=["O", number], name=name)

    def __setattr__(cls, name: str, value: Any) -> None:
        raise _own(cls)[0].refuse(f"a change of the class {cls.__module__}.{cls.__qualname__}")

    def __iter__(cls) -> Iterator[Any]:
        channel, number = _own(cls)
        return _elements(channel, ["O", number])


def _own(cls: type) -> Any:
    return type.__dict__["__dict__"].__get__(cls)["_remote"]


def _elements(channel: Any, target: list[Any]) -> Iterator[Any]:
    """What iterating over there gives; an iterator of a class of its own is asked for one value at a time."""
    found: Iterator[Any] = channel.ask("special", target=target, name="iter", args=channel.encode(((), {})))
    return found


class Remote:
    """An object that stays over there. It equals nothing but what stays there too."""

    __slots__ = ("_target",)
    _remote: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _channel(self).ask("get", target=_target(self), name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        channel = _channel(self)
        channel.ask("set", target=_target(self), name=name, value=channel.encode(value))

    def __call__(self, *given: Any, **named: Any) -> Any:
        return _channel(self).call(_target(self), given, named)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        how = type(self)._how  # type: ignore[attr-defined]
        if how == "d":
            return type(other) is type(self) and bool(_fields(self) == _fields(other))
        if how == "i":
            return False
        raise _channel(self).refuse(f"a comparison of {type(self).__module__}.{type(self).__qualname__}")

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)

    def __hash__(self) -> int:
        return hash(_fields(self)) if type(self)._how == "d" else id(self)  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return int(_special(self, "len"))

    def __bool__(self) -> bool:
        _channel(self).claim("bool", self)
        return _special(self, "bool") is True

    def __str__(self) -> str:
        return str(_special(self, "str"))

    def __repr__(self) -> str:
        return str(_special(self, "repr"))

    def __iter__(self) -> Iterator[Any]:
        return _elements(_channel(self), _target(self))

    def __next__(self) -> Any:
        return _special(self, "next")

    def __contains__(self, one: Any) -> bool:
        _channel(self).claim("contains", self)
        return _special(self, "contains", one) is True

    def __getitem__(self, key: Any) -> Any:
        return _special(self, "getitem", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _special(self, "setitem", key, value)

    def __delitem__(self, key: Any) -> None:
        _special(self, "delitem", key)

    def __enter__(self) -> Any:
        return _special(self, "enter")

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> bool:
        swallowed = _special(self, "exit", error) is True
        if swallowed and error is not None:
            _channel(self).claim("exit", self)
        return swallowed

    def __delattr__(self, name: str) -> None:
        _channel(self).ask("delete", target=_target(self), name=name)


def _target(one: Any) -> Any:
    return object.__getattribute__(one, "_target")


def _channel(one: Any) -> Any:
    return _own(type(one))[0]


def _special(one: Any, name: str, *given: Any) -> Any:
    channel = _channel(one)
    return channel.ask("special", target=_target(one), name=name, args=channel.encode((given, {})))


def _fields(one: Any) -> tuple[Any, ...]:
    """The fields of a dataclass's instance. Of one that a test made they must be what it was made of, or it is refused:

    else a class could give all its instances the same fields, and whatever was expected would equal whatever came.
    """
    channel = _channel(one)
    found = _special(one, "fields")
    if type(found) is not tuple:
        raise channel.end("product_malformed:fields")
    given, named = channel.builder.parts.get(_target(one)[1], ((), {}))
    if not _made_of(found, given, named):
        raise channel.refuse(f"a comparison of {type(one).__module__}.{type(one).__qualname__}, made of other values")
    return found


def _made_of(found: tuple[Any, ...], given: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether an instance's fields hold what it was made of, in its order."""
    rest = iter(found)
    return all(any(_same(part, value) for value in rest) for part in given) and all(
        any(_same(part, value) for value in found) for part in named.values()
    )


def _same(part: Any, value: Any) -> bool:
    return part is value or (type(part) is type(value) and not isinstance(part, Remote) and bool(part == value))


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(self: Any, *_: Any) -> Any:
        raise _channel(self).refuse(f"{name} of {type(self).__module__}.{type(self).__qualname__}")

    return refuse


for _name in _REFUSED:
    setattr(Remote, f"__{_name}__", _refusing(f"__{_name}__"))


class Builder:
    """Makes stand-ins from what is said of them; the first word on a class stands."""

    def __init__(self, channel: Any, functions: Callable[..., Any]) -> None:
        self.channel, self.functions = channel, functions
        self.classes: dict[int, type] = {}
        self.objects: dict[int, Any] = {}
        self.parts: dict[int, tuple[tuple[Any, ...], dict[str, Any]]] = {}  # what a test made an instance of
        self.offers: frozenset[str] = frozenset()
        self.targets: dict[int, Any] = {}  # of functions and classes, by their identity here

    def sent(self, value: Any, encode: Callable[[Any], Any]) -> Any:
        """How a stand-in is named to the other side."""
        if id(value) in self.targets:
            return self.targets[id(value)]
        if isinstance(value, Remote):
            return _target(value)
        if isinstance(value, tuple) and hasattr(type(value), "_fields"):
            if isinstance(type(value), RemoteType):
                return ["R", _own(type(value))[1], *(encode(one) for one in tuple.__iter__(value))]
            raise self.channel.codec.Uncarried(f"a named tuple of the tests ({type(value).__name__})")
        if isinstance(value, BaseException):
            kind = type(value)
            named = self.targets[id(kind)][1:] if id(kind) in self.targets else [kind.__module__, kind.__qualname__]
            if len(named) == 2 and standard(*named) is not kind and kind is not KeyboardInterrupt:
                raise self.channel.codec.Uncarried(f"an exception of the tests ({kind.__name__})")
            return ["X", *named, encode(tuple(value.args))]
        if isinstance(value, Iterator) and type(value).__module__ in ("builtins", "itertools"):
            return ["G", *map(encode, itertools.islice(value, MOST_DRAWN))]
        return None

    def built(self, sent: list[Any], decode: Callable[[Any], Any]) -> Any:
        """The stand-in for what was sent."""
        tag, *rest = sent
        if tag == "M":
            return self.module(rest[0])
        if tag == "K":
            return self.kind(rest[0])
        if tag == "X":
            return self.exception(rest)
        if tag == "R":
            return tuple.__new__(self.kind(rest[0]), [decode(one) for one in rest[1:]])
        if tag == "G":
            return self.drawn([decode(one) for one in rest[0]], rest[1])
        number = rest[0]
        if type(number) is not int:
            raise ValueError(tag)
        if number not in self.objects:
            if tag == "F":
                module, name, waits = rest[1:]
                made: Any = self.functions(self.channel, ["O", number], str(module), str(name), waits is True)
                self.targets[id(made)] = ["O", number]
            elif tag == "O":
                made = object.__new__(self.kind(rest[1]))
                object.__setattr__(made, "_target", ["O", number])
            else:
                raise ValueError(tag)
            self.objects[number] = made
        return self.objects[number]

    def module(self, name: Any) -> Any:
        """A stand-in for a module, never a module of this side."""
        if type(name) is not str or name.partition(".")[0] not in self.offers:
            raise ValueError(name)
        made = importlib.import_module(name)
        if "__channel__" not in vars(made):  # a name of the tests' own
            raise ValueError(name)
        return made

    def drawn(self, values: list[Any], error: Any) -> Iterator[Any]:
        yield from values
        if error is not None:
            raise self.exception(error[1:])

    def kind(self, said: list[Any]) -> type:
        """A class of our own in place of one over there: an exception, a named tuple, or a stand-in."""
        if said[0] == "B":
            return standard(said[1], said[2])
        number, how, module, name, bases, fields = said
        if type(number) is not int or how not in ("n", "d", "i", "u"):
            raise ValueError(said)
        if number in self.classes:
            return self.classes[number]
        if len(self.classes) >= MOST_CLASSES:
            raise self.channel.refuse("one class too many")
        made = self.make(str(name), tuple(self.kind(base) for base in bases), number, how, fields)
        type.__setattr__(made, "__module__", str(module))
        self.classes[number] = made
        self.targets[id(made)] = ["O", number]
        return made

    def make(self, name: str, bases: tuple[type, ...], number: int, how: str, fields: list[Any]) -> type:
        if any(issubclass(base, BaseException) for base in bases):
            raised = tuple(base for base in bases if issubclass(base, BaseException))
            try:
                return type(name, raised, {})
            except TypeError:  # bases that don't go together
                return type(name, raised[:1], {})
        own = {"_remote": (self.channel, number), "_how": how, "__slots__": ()}
        if how != "n":
            mixed = tuple(base for base in bases if issubclass(base, Remote)) or (Remote,)
            return RemoteType(name, mixed, own)
        names = [one for one in fields if type(one) is str and one.isidentifier() and not one.startswith("_")]
        parts: dict[str, Any] = {one: property(_part(place)) for place, one in enumerate(names)}
        parts["__getattr__"] = _ask_named
        return RemoteType(name, (tuple,), {**parts, **own, "_fields": tuple(names)})

    def exception(self, said: list[Any]) -> BaseException:
        """An exception as it was raised over there, without its traceback."""
        described, given, text, attributes, cause = said
        kind = self.kind(described)
        if not issubclass(kind, BaseException):
            raise ValueError(described)
        values = self.channel.decode(given) if given is not None else (str(text),)
        error = made(kind, values if type(values) is tuple else (values,))
        for name, value in attributes.items():
            if type(name) is str and not name.startswith("_"):
                try:
                    setattr(error, name, self.channel.decode(value))
                except (AttributeError, TypeError):
                    continue
        if str(error) != text:
            error.args = (str(text),) if kind.__str__ is BaseException.__str__ else error.args
        error.__cause__ = self.exception(cause) if cause is not None else None
        return error


def _ask_named(value: Any, name: str) -> Any:
    """A method of a named tuple: done over there, on a copy."""
    if name.startswith("__"):
        raise AttributeError(name)
    channel = _channel(value)
    return channel.ask("get", target=channel.encode(value), name=name)


def _part(place: int) -> Callable[[Any], Any]:
    return lambda value: tuple.__getitem__(value, place)


def made(kind: type[BaseException], values: tuple[Any, ...]) -> BaseException:
    """An instance, through its class where that is built in."""
    try:
        return kind(*values)
    except Exception:
        error = BaseException.__new__(kind)
        error.args = values
        return error


def standard(module: Any, name: Any) -> type[BaseException]:
    """An exception class of the standard library that is loaded here, else one of our own by the same name."""
    found = None
    if type(module) is str and type(name) is str and not name.startswith("_") and name not in _NOT_RAISED:
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names and top not in _NOT_FROM and (module in sys.modules or module == "builtins"):
            found = vars(sys.modules.get(module, builtins)).get(name)
    if isinstance(found, type) and issubclass(found, BaseException):
        return found
    return type(str(name), (Exception,), {})
