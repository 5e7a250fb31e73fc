"""Runs the recorder on its own: its port, its files, what it shows, and its end."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages.contract.digest import canonical
from stages.contract.errors import InputError, UsageError
from stages.contract.types import plain
from stages.session.providers import PROVIDERS

if TYPE_CHECKING:
    from stages.contract.stamp import Call, Stamp
    from stages.session.recorder.standing import Key, Standing

_EVERY_S = 30.0  # between two lines where there is no terminal
_GRACE_S = 5.0


def stand(
    provider: str,
    upstream: str | None,
    key_env: str | None,
    host: str,
    port: int,
    out: Path,
    calls: Path | None,
    idle_s: float,
    say: Callable[[str], None],
) -> None:
    """Record until SIGINT or SIGTERM; every attempt has its stamp by then. Raises InputError or UsageError."""
    if provider not in PROVIDERS:
        raise UsageError("--provider", f"found {provider!r}", ", ".join(PROVIDERS))
    from stages.session.recorder import Recorder, Standing

    variable = key_env or PROVIDERS[provider].key_env
    key = os.environ.get(variable) if variable else None
    if variable and not key:
        raise InputError(
            f"environment: {variable}", "not set", "the provider's key", "export it, or name it by --key-env"
        )
    if calls is not None and _same(calls, out):
        raise UsageError("--calls", f"{calls} is --out, too", "a file of its own", "a log of stamps holds nothing else")
    stop = threading.Event()
    seen: Counter[str] = Counter()
    with Files(out, calls) as files, Recorder(provider, upstream, key, secret=os.urandom(32)) as recorder:

        def ended(key: Key, made: list[Call], stamp: Stamp) -> None:
            files.write(key, made, stamp)
            seen.update(attempts=1, calls=len(made), failed=sum(call.failure is not None for call in made))

        standing = Standing(recorder, idle_s, _GRACE_S, ended)
        try:
            listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        except OSError as error:
            if error.errno is not None and (error.errno < 0 or error.errno == errno.EADDRNOTAVAIL):
                what = f"{host} is no address of this machine"
                raise UsageError("--host", what, "one to listen at", "try 127.0.0.1") from None
            raise UsageError("--port", f"{host}:{port}: {error.strerror}", "a free port", "try --port 0") from None
        place = f"[{host}]" if ":" in host else host
        before = {sig: signal.signal(sig, lambda *_: stop.set()) for sig in (signal.SIGINT, signal.SIGTERM)}
        try:
            standing.serve(listening)
            port = listening.getsockname()[1]
            say(f"recording {recorder.upstream} on http://{place}:{port}/t/ITEM/ARM/REPEAT[/ATTEMPT]/…")
            _watch(standing, stop, seen, say)
        finally:
            standing.close()
            for number, handler in before.items():
                signal.signal(number, handler)
    if standing.failed is not None:
        raise standing.failed
    say(_line(seen, 0))


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


class Files:
    """The files that stamps and calls are appended to, a line each, on the disk before the next."""

    def __init__(self, out: Path, calls: Path | None) -> None:
        self.places = [out, *([calls] if calls else [])]
        self.streams: list[Any] = []

    def __enter__(self) -> Files:
        for place in self.places:
            try:
                self.streams.append(place.open("ab", buffering=0))
                if _torn(place):
                    self.streams[-1].write(b"\n")
            except OSError as error:
                self.__exit__()
                raise InputError(place, error.strerror or "can't be opened", "a file to append to") from None
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self.streams:
            stream.close()

    def write(self, key: Key, calls: list[Call], stamp: Stamp) -> None:
        """Append an attempt's stamp, and its calls."""
        names = dict(zip(("item_id", "arm", "repeat", "attempt"), key, strict=True))
        lines = [[plain(stamp)], [{**names, "call": plain(call)} for call in calls]]
        for place, stream, rows in zip(self.places, self.streams, lines, strict=False):
            try:
                _append(stream, b"".join(canonical(row) + b"\n" for row in rows))
            except OSError as error:
                raise InputError(place, error.strerror or "can't be written", "room for a line", "free some") from None


def _torn(place: Path) -> bool:
    """Whether the file's last line was never finished: what is appended to it would be lost with it."""
    if not place.is_file() or not place.stat().st_size:
        return False
    with place.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read() != b"\n"


def _append(stream: Any, data: bytes) -> None:
    """All of it, and on the disk before this returns, where it is a disk."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) :]
    try:
        os.fsync(stream.fileno())
    except OSError as error:
        if error.errno != errno.EINVAL:  # a pipe
            raise


def _line(seen: Counter[str], open_: int) -> str:
    text = f"{seen['attempts']} attempts ended, {seen['calls']} calls, {seen['failed']} of which failed"
    return text + (f"; {open_} attempts under way" if open_ else "")


def _watch(standing: Standing, stop: threading.Event, seen: Counter[str], say: Callable[[str], None]) -> None:
    """Until `stop`: end silent attempts, and show what goes on, as a table where there is a terminal."""
    if not sys.stderr.isatty():
        due = time.monotonic() + _EVERY_S
        while not stop.wait(0.5) and standing.failed is None:
            standing.sweep()
            if time.monotonic() > due:
                say(_line(seen, len(standing.trials)))
                due += _EVERY_S
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=2, transient=True) as live:
        while not stop.wait(0.5) and standing.failed is None:
            standing.sweep()
            live.update(_table(standing, seen))


def _table(standing: Standing, seen: Counter[str]) -> Any:
    from rich.table import Table

    table = Table(title=_line(seen, 0))
    for name in ("item", "arm", "repeat", "attempt", "calls", "under way", "silent, s"):
        table.add_column(name)
    now = time.monotonic()
    for key, trial in sorted(standing.trials.items())[-30:]:
        silent = 0.0 if trial.under_way else now - trial.heard
        table.add_row(*map(str, key), str(trial.calls), str(len(trial.under_way)), f"{silent:.0f}")
    return table
