"""The line of one attempt of a trial: it serves the sockets that it is handed, and knows what was asked on them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aiohttp import web

from stages.contract.stamp import Call
from stages.session.chain import chained
from stages.session.recorder import limits
from stages.session.recorder.door import Door, from_a_page, said, server
from stages.session.recorder.identity import identified
from stages.session.recorder.record import Record, Room
from stages.session.recorder.relay import Relay

if TYPE_CHECKING:
    from stages.session.recorder.recorder import Recorder

_LOOPBACK = "127.0.0.1"


class Listener:
    """Serves the sockets that it is handed; `close` ends it and gives the calls."""

    def __init__(self, recorder: Recorder, relay: Relay, label: str) -> None:
        self.recorder, self.relay, self.label = recorder, relay, label
        self._server: web.Server | None = None
        self._doors: list[Door] = []
        self._over = self._port = False
        self._room = Room()
        self._asked = 0
        self._open = 0
        self._calls: list[asyncio.Future[Call]] = []
        self._before: asyncio.Future[str | None] | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    def serve(self, listening: socket.socket) -> None:
        """Take over a listening socket, from any thread. It is this listener's to close, at once if that was closed."""

        async def start() -> None:
            if self._over:
                listening.close()
                return
            if self._server is None:
                self._server = server(self._handle)
            self._doors.append(Door(self._server, listening))

        self.recorder.do(start())

    def listen(self) -> str:
        """Open a port of its own on the loopback. Returns the base URL that an agent is given."""
        listening = socket.create_server((_LOOPBACK, 0), backlog=128)
        port = listening.getsockname()[1]
        self._port = True
        self.serve(listening)
        return f"http://{_LOOPBACK}:{port}{urlsplit(self.recorder.upstream).path.rstrip('/')}"

    def close(self, grace_s: float) -> list[Call]:
        """Take no more; let calls that are under way end for up to `grace_s` seconds, then cut them off.

        Returns the calls in the order in which they began, linked to those that they repeat.
        """
        return chained(self.recorder.do(self._close(grace_s)))

    async def _close(self, grace_s: float) -> list[Call]:
        self._over = True
        for one in self._doors:
            await one.close()
        if grace_s > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), grace_s)
        if self._server is not None:
            await self._server.shutdown(0.1)  # 0 would mean without end
        return await self.ended()

    async def ended(self) -> list[Call]:
        """The calls, once none is under way (or after 5 seconds)."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), 5)
        self._doors.clear()
        calls = sorted(await asyncio.gather(*self._calls), key=lambda call: call.number)
        if self._before is None:
            return calls
        return identified(calls, await self._before, await self.recorder.identity())

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        refused = from_a_page(request) if self._port else None
        return await self.handle(request, request.raw_path) if refused is None else refused

    async def handle(self, request: web.BaseRequest, raw: str) -> web.StreamResponse:
        """Serve one request, whose path is `raw`."""
        if self._asked >= limits.MAX_CALLS:
            return said(429, "too_many", f"at most {limits.MAX_CALLS} calls of one attempt")
        self._asked += 1
        number = self._asked
        record = Record(datetime.now(UTC), request.method, self.relay.upstream, self._room)
        self._open += 1
        self._idle.clear()
        if self._before is None:
            self._before = asyncio.ensure_future(self.recorder.identity())
        try:
            return await self.relay.pass_on(request, record, raw)
        finally:
            read = self.recorder.submit(record, number)
            read.add_done_callback(lambda _: record.leave())
            self._calls.append(read)
            self._open -= 1
            if not self._open:
                self._idle.set()
