"""The recorder on its own, for people with their own harness: trials are told apart by the path that they call.

A path can be forged by whoever holds the port, so what is recorded this way is `exported`: another program said whose
it is. Inside a sandbox each trial has a socket of its own instead.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from aiohttp import web

from stages.contract.stamp import Call, Stamp
from stages.contract.types import check_id
from stages.session.chain import chained
from stages.session.recorder import limits
from stages.session.recorder.door import Door, from_a_page, said, server
from stages.session.recorder.listener import Listener
from stages.session.recorder.recorder import Recorder
from stages.session.summary import stamp_of

_PREFIX = re.compile(r"/t/([^/?#]+)/(candidate|control)/(0|[1-9][0-9]{0,8})(?:/([1-9][0-9]{0,8}))?(?=[/?]|$)")
HOW = "http://HOST:PORT/t/ITEM/ARM/REPEAT[/ATTEMPT], then the provider's own path"

Arm = Literal["candidate", "control"]
Key = tuple[str, Arm, int, int]
Ended = Callable[[Key, list[Call], Stamp], None]


@dataclass
class Trial:
    """An attempt that is under way: its listener, the calls that go on, and when it was last heard of."""

    listener: Listener
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    heard: float = field(default_factory=time.monotonic)
    under_way: set[asyncio.Task[Any]] = field(default_factory=set)
    calls: int = 0


class Standing:
    """Serves one port for many trials. Each ends when it is deleted, or silent for `idle_s` seconds; then `ended`.

    Calls of a trial that ends have `grace_s` seconds for it. `failed` is what `ended` raised, if it did.
    """

    def __init__(self, recorder: Recorder, idle_s: float, grace_s: float, ended: Ended) -> None:
        self.recorder, self.idle_s, self.grace_s, self.ended = recorder, idle_s, grace_s, ended
        self.trials: dict[Key, Trial] = {}
        self.over: set[Key] = set()
        self.failed: Exception | None = None
        self._one_by_one = asyncio.Lock()
        self._server: web.Server | None = None
        self._door: Door | None = None
        self._loopback = True

    def serve(self, listening: socket.socket) -> None:
        """Take over a listening socket."""
        self._loopback = ipaddress.ip_address(listening.getsockname()[0]).is_loopback

        async def start() -> None:
            self._server = server(self._handle)
            self._door = Door(self._server, listening)

        self.recorder.do(start())

    def sweep(self) -> None:
        """End trials that have been silent for long enough."""

        async def silent() -> None:
            now = time.monotonic()
            for key, trial in list(self.trials.items()):
                if not trial.under_way and now - trial.heard > self.idle_s:
                    await self._end(key)

        self.recorder.do(silent())

    def close(self) -> None:
        """Take no more calls, let those under way end for a while, and end every trial."""

        async def stop() -> None:
            if self._door is not None:
                await self._door.close()
            await asyncio.gather(*(self._end(key) for key in list(self.trials)))
            if self._server is not None:
                await self._server.shutdown(0.1)

        self.recorder.do(stop())

    async def _end(self, key: Key) -> None:
        trial = self.trials.pop(key, None)
        if trial is None:
            return
        self.over.add(key)
        if trial.under_way:
            _, late = await asyncio.wait(set(trial.under_way), timeout=self.grace_s)
            for task in late:
                task.cancel()
        calls = chained(await trial.listener.ended())
        stamp = stamp_of(*key, calls, started_at=trial.started_at, evidence="exported")
        async with self._one_by_one:
            try:
                await asyncio.get_running_loop().run_in_executor(None, self.ended, key, calls, stamp)
            except Exception as error:
                self.failed = self.failed or error

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        refused = from_a_page(request, named=not self._loopback)
        if refused is not None:
            return refused
        found = _PREFIX.match(request.raw_path)
        key = _key(found)
        if found is None or key is None:
            return said(404, "no_trial", f"call {HOW}")
        rest = request.raw_path[found.end() :]
        if key in self.over:
            return said(409, "trial_over", "this attempt has ended and has its stamp; a further one has its own number")
        if request.method == "DELETE" and not rest.strip("/"):
            await self._end(key)
            return web.Response(status=204) if self.failed is None else said(500, "unwritten", "no room for its stamp")
        trial = self.trials.get(key)
        if trial is None:
            if len(self.trials) >= limits.MAX_TRIALS:
                return said(503, "too_many", f"at most {limits.MAX_TRIALS} attempts at a time")
            trial = self.trials[key] = Trial(self.recorder.open("/".join(map(str, key))))
        task = asyncio.current_task()
        assert task is not None
        trial.under_way.add(task)
        trial.calls += 1
        try:
            return await trial.listener.handle(request, rest or "/")
        finally:
            trial.under_way.discard(task)
            trial.heard = time.monotonic()


def _key(found: re.Match[str] | None) -> Key | None:
    if found is None:
        return None
    item, arm, repeat, attempt = found.groups()
    try:
        check_id(item)
    except ValueError:
        return None
    named: Arm = "candidate" if arm == "candidate" else "control"
    return item, named, int(repeat), int(attempt or 1)
