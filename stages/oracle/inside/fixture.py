"""The fixture `product`: the tree's programs, for tests whose code under test runs elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest


class Done(NamedTuple):
    """How a program ended. `returncode`: None when the time limit ended it."""

    returncode: int | None
    stdout: str
    stderr: str


class Answer(NamedTuple):
    """What a server answered; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


_KINDS: dict[str, tuple[type, ...]] = {
    "returncode": (int, type(None)), "stdout": (str,), "stderr": (str,), "status": (int,), "headers": (dict,),
    "body": (bytes,),
}  # fmt: skip


class Product:
    """Programs run with the tree as their working directory, `python` as the first word is this interpreter."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel
        self.started = False

    def _ask(self, operation: str, **words: Any) -> Any:
        return self._channel.ask(operation, **{"with": self._channel.encode(words)})

    def run(
        self, argv: Sequence[str], stdin: str | bytes = "", env: dict[str, str] | None = None, timeout: float = 30.0
    ) -> Done:
        """Run a program to its end. Raises OSError where it can't be started."""
        given = {"stdin": stdin, "env": env, "timeout": float(timeout)}
        made: Done = self._made(Done, self._ask("run", argv=[str(word) for word in argv], **given))
        return made

    def serve(self, argv: Sequence[str], port: int, env: dict[str, str] | None = None, timeout: float = 10.0) -> None:
        """Start a server; it ends with the test. Fails the test when nothing takes connections on the port in time."""
        self.started = True
        words = [str(word) for word in argv]
        if self._ask("serve", argv=words, port=port, env=env, timeout=float(timeout)) is not True:
            pytest.fail(f"no server on port {port} after {timeout} s: {' '.join(words)}")

    def request(
        self,
        method: str,
        path: str,
        body: str | bytes | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = 10.0,
    ) -> Answer:
        """Ask the server that was started last. Raises OSError where it doesn't answer."""
        given = {"body": body, "headers": headers, "timeout": float(timeout)}
        made: Answer = self._made(Answer, self._ask("request", method=method, path=path, **given))
        return made

    def _made(self, kind: Any, found: Any) -> Any:
        """The named tuple, of plain values only: a stand-in could say yes to whatever it is asked."""
        try:
            made = kind(**found)
        except TypeError:
            raise self._channel.end("product_malformed:program") from None
        if any(type(value) not in _KINDS[name] for name, value in made._asdict().items()) or any(
            type(word) is not str for pair in getattr(made, "headers", {}).items() for word in pair
        ):
            raise self._channel.end("product_malformed:program")
        return made


class Programs:
    """pytest's plugin with the fixture."""

    def __init__(self, channel: Any) -> None:
        self.channel = channel

    @pytest.fixture
    def product(self) -> Iterator[Product]:
        """The code under test, as programs."""
        made = Product(self.channel)
        yield made
        if made.started:
            made._ask("stop")
